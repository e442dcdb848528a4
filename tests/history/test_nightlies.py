from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from bisect_tool.errors import RevisionUnknown
from bisect_tool.history.commit import Commit
from bisect_tool.history.nightlies import Nightly, NightlyMap, days, main_of_commit, map_nightlies, read_nightly

DAY = date(2026, 3, 2)


def nightly(day: int, sha: str, main: str) -> Nightly:
    return Nightly(date(2026, 3, day), sha * 40, main * 40)


def commit(sha: str, title: str) -> Commit:
    return Commit(sha, title, "", "bot", datetime(2026, 3, 2, tzinfo=UTC))


# The third was cut twice, the fourth and fifth hold what the third held, the seventh is missing.
MAP = NightlyMap((
    nightly(2, "a", "1"), nightly(3, "b", "2"), nightly(3, "c", "3"), nightly(4, "d", "3"), nightly(5, "e", "3"),
    nightly(6, "f", "4"), nightly(8, "0", "5"),
))  # fmt: skip


@pytest.mark.parametrize(
    ("subject", "main"),
    [
        (
            "2025-08-06 nightly release (74a754aae98aabc2aca67e5edb41cc684fae9a82)",
            "74a754aae98aabc2aca67e5edb41cc684fae9a82",
        ),
        (
            "2025-02-14 nightly release (68C826639EDB3CCD14ED198F8B53F384B4FED36D)",
            "68c826639edb3ccd14ed198f8b53f384b4fed36d",
        ),
        ("2025-08-06 nightly release (74a754aa)", None),
        ("2025-13-06 nightly release (74a754aae98aabc2aca67e5edb41cc684fae9a82)", None),
        ("Fix the 2025-08-06 nightly release (74a754aae98aabc2aca67e5edb41cc684fae9a82)", None),
        ("", None),
    ],
)
def test_the_subject_of_a_nightly(subject: str, main: str | None) -> None:
    found = read_nightly("a" * 40, subject)
    assert (found.main if found else None) == main


def test_the_map_passes_over_other_commits() -> None:
    found = map_nightlies(
        [commit("a" * 40, "Initial commit"), commit("b" * 40, f"2026-03-02 nightly release ({'1' * 40})")]
    )
    assert found.nightlies == (Nightly(DAY, "b" * 40, "1" * 40),)


def test_a_revision_leads_to_main() -> None:
    assert MAP.main_of("d" * 40) == "3" * 40
    assert MAP.main_of("ddddddd") == "3" * 40
    assert MAP.main_of("DDDDDDDDD") == "3" * 40


def test_any_other_revision_is_one_of_main() -> None:
    assert MAP.main_of("9" * 40) == "9" * 40
    assert MAP.main_of("dddd") == "dddd"


def test_digits_that_fit_several() -> None:
    twins = NightlyMap((Nightly(DAY, "abcdef0" + "1" * 33, "1" * 40), Nightly(DAY, "abcdef0" + "2" * 33, "2" * 40)))
    with pytest.raises(RevisionUnknown, match="several"):
        twins.main_of("abcdef0")


def test_a_day_may_have_none_one_or_two() -> None:
    assert MAP.on(date(2026, 3, 7)) == ()
    assert [n.main[0] for n in MAP.on(date(2026, 3, 2))] == ["1"]
    assert [n.main[0] for n in MAP.on(date(2026, 3, 3))] == ["2", "3"]


def test_the_newest_until_a_day() -> None:
    assert MAP.newest_until(date(2026, 3, 7)) == MAP.nightlies[5]
    assert MAP.newest_until(date(2026, 3, 3)) == MAP.nightlies[2]
    assert MAP.newest_until(date(2026, 3, 1)) is None


def test_nightlies_with_the_same_commit_stand_together() -> None:
    assert [len(group) for group in MAP.groups()] == [1, 1, 3, 1, 1]
    assert days(MAP.groups()[2]) == "2026-03-03 to 2026-03-05"
    assert days(MAP.groups()[0]) == "2026-03-02"


def test_a_commit_of_the_nightly_branch_stands_for_one_of_main() -> None:
    assert main_of_commit(commit("b" * 40, f"2026-03-02 nightly release ({'1' * 40})")) == "1" * 40
    assert main_of_commit(commit("b" * 40, "Fix (#1)")) == "b" * 40


def test_what_a_map_covers() -> None:
    assert [MAP.covers(date(2026, 3, day)) for day in (1, 2, 3, 7, 8, 9)] == [False, False, True, True, True, False]
    assert not NightlyMap(()).covers(DAY)
