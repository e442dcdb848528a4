"""The precision of the service's own answers, and how many it has."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from bisect_tool.service.accuracy import (
    UNDER_WAY,
    Asked,
    Reviewed,
    accuracy_of,
    coverage,
    fault_name,
    monday,
    precision,
)
from bisect_tool.service.recheck import Checked, Kind, Verdict

DAY = 86_400.0


def reviewed(
    verdict: Verdict, *kinds: Kind, package: str = "torch", at: float = 0.0, doubted: bool = False
) -> Reviewed:
    checks = tuple(Checked("repro", "A", kind, "1.0", "1.1", verdict) for kind in kinds)
    return Reviewed("q1", "one", package, at, verdict, checks, doubted)


@pytest.mark.parametrize(("same", "differs"), [(20, 0), (19, 1), (0, 3), (97, 3)])
def test_the_interval_is_that_of_clopper_and_pearson(same: int, differs: int) -> None:
    found = precision([Verdict.SAME] * same + [Verdict.DIFFERS] * differs)
    known = binomtest(same, same + differs).proportion_ci(0.95, method="exact")
    assert [found.low, found.high] == pytest.approx([known.low, known.high], abs=1e-4)
    assert found.share == same / (same + differs)


def test_what_was_not_judged_again_is_told_and_not_counted() -> None:
    found = precision([Verdict.SAME, Verdict.NO_ANSWER, Verdict.NO_ANSWER, Verdict.REPLACED])
    assert (found.same, found.differs, found.no_answer, found.replaced, found.share) == (1, 0, 2, 1, 1.0)


def test_without_reviews_nothing_is_claimed() -> None:
    found = precision([])
    assert (found.share, found.low, found.high) == (None, 0.0, 1.0)


def test_an_answer_is_as_sure_as_its_least_certain_change() -> None:
    assert reviewed(Verdict.SAME, Kind.EXACT, Kind.NARROWED).kind is Kind.NARROWED
    assert reviewed(Verdict.SAME, Kind.EXACT, Kind.FLAKY).kind is Kind.FLAKY
    assert reviewed(Verdict.SAME).kind is Kind.NO_CHANGE


def test_by_kind_package_and_week() -> None:
    rows = [
        reviewed(Verdict.SAME, Kind.EXACT, Kind.EXACT, at=4 * DAY),
        reviewed(Verdict.DIFFERS, Kind.EXACT, at=10 * DAY, doubted=True),
        reviewed(Verdict.SAME, Kind.FLAKY, package="triton", at=11 * DAY),
    ]
    found = accuracy_of(rows, [], last=2)
    assert (found.answers.same, found.answers.differs, found.changes.same) == (2, 1, 3)
    assert {kind: one.share for kind, one in found.kinds.items()} == {"exact": 0.5, "flaky": 1.0}
    assert {package: one.share for package, one in found.packages.items()} == {"torch": 0.5, "triton": 1.0}
    assert {week: one.share for week, one in found.weeks.items()} == {"1970-01-05": 0.5, "1970-01-12": 1.0}
    assert [one.at for one in found.last] == [11 * DAY, 10 * DAY]
    assert [one.at for one in found.doubted] == [10 * DAY]


def test_weeks_begin_on_monday() -> None:
    assert [monday(day * DAY) for day in (0, 3, 4)] == ["1969-12-29", "1969-12-29", "1970-01-05"]


def test_coverage_says_why_there_is_no_answer() -> None:
    found = coverage(
        [
            Asked("answered", "exact"),
            Asked("answered", "no change"),
            Asked("answered", "not judged"),
            Asked("failed", None, "PackageNotFound"),
            Asked("cancelled", None),
            Asked("queued", None),
        ]
    )
    assert (found.asked, found.answered, found.share) == (6, 2, 0.4)
    assert found.outcomes == {"exact": 1, "no change": 1}
    assert found.why_not == {"no build could be judged": 1, "PackageNotFound": 1, "cancelled": 1, UNDER_WAY: 1}


def test_faults_have_their_names() -> None:
    assert [fault_name({"status": status, "what": ""}) for status in (10, 12, 70)] == [
        "SpecError",
        "EmptyRange",
        "BisectError",
    ]
    assert fault_name(None) is None
