"""400 nightlies over HTTP with everything that goes wrong there, many times: `python -m tests.benchmarks.nightlies` has 200."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.rig.hard_search import H200, search, search_hard
from tests.rig.nightly_index import Change, Missing, NightlyIndex, NightlyPlan


@pytest.mark.parametrize("seed", range(6))
def test_the_planted_change_is_found(tmp_path: Path, seed: int) -> None:
    done = search_hard(seed, tmp_path)
    assert done.found == done.planted


def test_a_change_of_variant_is_no_regression(tmp_path: Path) -> None:
    """No CUDA variant has builds of all these dates; what fails in one of them alone does not begin at any date."""
    plan = NightlyPlan(
        first=date(2025, 12, 1),
        last=date(2026, 8, 30),
        variants=("cu128", "cu132"),
        pythons=("cp311", "cp312"),
        changes=(Change("main", date(2025, 12, 1), "RuntimeError: no kernel", variants=("cu132",)),),
        bare=True,
    )
    with NightlyIndex(plan) as index:
        report = search(plan, index, tmp_path, H200)
    (failure,) = report.failures
    end = failure.episodes[0].appeared
    assert end.last_without is not None
    assert (end.last_without.partition("+")[0], end.last_without[-5:]) == (end.first_with.partition("+")[0], "cu128")
    assert end.first_with.endswith("cu132")
    assert end.same_code == f"variant cu128 and variant cu132 of {report_date(end.first_with)}"
    assert end.compare is None
    assert "are built from the same code" in report.summary[0]


def test_a_change_is_found_beside_a_change_of_variant(tmp_path: Path) -> None:
    """Both sides of the change of variant are tested, so that one is not taken for the other."""
    plan = NightlyPlan(
        first=date(2025, 12, 1),
        last=date(2026, 8, 30),
        variants=("cu128", "cu132"),
        pythons=("cp311", "cp312"),
        changes=(Change("main", date(2026, 4, 9), "RuntimeError: gradient is all zero"),),
        bare=True,
    )
    with NightlyIndex(plan) as index:
        report = search(plan, index, tmp_path, H200)
    end = report.failures[0].episodes[0].appeared
    assert (end.last_without, end.first_with) == ("2.12.0.dev20260408+cu132", "2.12.0.dev20260409+cu132")
    assert end.same_code is None
    tested = {entry.build for entry in report.cases[0].timeline if entry.state == "pass"}
    assert {build[-5:] for build in tested} == {"cu128", "cu132"}


def report_date(version: str) -> str:
    stamp = version.partition(".dev")[2][:8]
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:]}"


def test_variants_without_a_common_date_leave_the_answer_open_between_them(tmp_path: Path) -> None:
    plan = NightlyPlan(
        first=date(2025, 12, 1),
        last=date(2026, 8, 30),
        variants=("cu128", "cu132"),
        pythons=("cp311", "cp312"),
        changes=(Change("main", date(2026, 4, 1), "RuntimeError: gradient is all zero"),),
        missing=(Missing(date(2026, 3, 20), date(2026, 4, 8), variant="cu128"),),
        bare=True,
    )
    with NightlyIndex(plan) as index:
        report = search(plan, index, tmp_path, H200)
    end = report.failures[0].episodes[0].appeared
    assert (report.outcome, end.kind) == ("narrowed", "narrowed")
    assert (end.last_without, end.first_with) == ("2.12.0.dev20260319+cu128", "2.12.0.dev20260401+cu132")
    assert end.also_differs == "the builds are of variant cu128 and variant cu132, and no date has both"
