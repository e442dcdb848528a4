"""One build looked at by itself, over toy builds of a moment each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.reports import events
from bisect_tool.reports.attempt import Attempt
from bisect_tool.runs.run import run_specs
from bisect_tool.runs.surveying import Wishes
from bisect_tool.runs.trying.attempting import Desk, attempt
from bisect_tool.runs.trying.look import Look
from tests.rig.direct_runs import DirectRuns, direct_runs

SCRIPT = """import torch, sys
number = int(torch.__version__.partition(".")[2])
print("case", sys.argv[1], "on", number)
if sys.argv[1] == "bad" and number >= 2:
    raise RuntimeError("gradient is all zero")
if sys.argv[1] == "cannot":
    sys.exit(125)
if sys.argv[1] == "turns":
    import pathlib
    count = pathlib.Path(__import__("os").environ["COUNTER"])
    count.write_text(count.read_text() + "x" if count.exists() else "x")
    sys.exit("odd turn" if len(count.read_text()) % 2 else 0)
"""
CASES = [{"name": "good", "args": ["good"], "role": "control"}, {"name": "bad", "args": ["bad"]}]
NAMED = [{"name": "zero", "match": "all zero"}, {"name": "other", "match": "never said"}]


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[DirectRuns]:
    with direct_runs(tmp_path, 4) as runs:
        yield runs


def tried(runs: DirectRuns, look: Look | None = None, **keys: Any) -> Attempt:
    workshop = runs.workshop()
    results = workshop.results()
    told: list[events.Event] = []
    desk = Desk(workshop, results, Wishes(), told.append)
    try:
        made, _, _ = attempt(desk, runs.spec(SCRIPT, **{"cases": CASES, "failures": NAMED, **keys}), look or Look())
    finally:
        desk.close()
        results.close()
    return made


def states(made: Attempt) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {case.name: (case.state, case.failures) for case in made.cases}


def test_the_newest_build_is_tried_and_a_run_does_not_repeat_it(runs: DirectRuns) -> None:
    made = tried(runs)
    assert made.build.version == "1.3"
    assert made.outcome == "judged"
    assert made.controls_pass is True
    assert states(made) == {"good": ("pass", ()), "bad": ("failing", ("zero",))}
    (failure,) = made.failures
    assert (failure.named, failure.match, failure.cases) == ("zero", "all zero", {"bad": 1})
    assert [one.name for one in made.unseen] == ["other"]
    assert made.cases[1].output[-1] == "RuntimeError: gradient is all zero"
    assert made.next[0].startswith("bisect run ")
    assert (made.trials, made.trials_known) == (2, 0)
    spec = runs.spec(SCRIPT, cases=CASES, failures=NAMED)
    (report,) = run_specs(runs.workshop(), [spec], Wishes(), lambda _event: None)
    assert report.counts.trials_known == 2
    assert report.failures[0].episodes[0].appeared.first_with == "1.2"


def test_a_version_a_date_and_a_second_time(runs: DirectRuns) -> None:
    assert states(tried(runs, Look("1.1")))["bad"] == ("pass", ())
    assert tried(runs, Look("2026-01-03")).build.version == "1.2"  # uploaded on the third day
    again = tried(runs, Look("1.1"))
    assert (again.trials, again.trials_known) == (0, 2)
    assert again.next[0].endswith("--build 1.1 --discover")


def test_repeats_show_how_often_a_failure_comes(runs: DirectRuns, tmp_path: Path) -> None:
    case = {"name": "turns", "args": ["turns"], "env": {"COUNTER": str(tmp_path / "count")}}
    made = tried(runs, Look(repeat=4), cases=[case], failures=[])
    (shown,) = made.cases
    assert shown.failed is not None
    assert (shown.state, shown.failed.shown, shown.failed.trials) == ("flaky", 2, 4)
    assert any("put `flaky: yes` into the spec" in text for text in made.advice)
    assert made.controls_pass is None


def test_a_control_that_fails_hides_nothing_of_the_others(runs: DirectRuns) -> None:
    cases = [{"name": "bad", "args": ["bad"], "role": "control"}, {"name": "good", "args": ["good"]}]
    made = tried(runs, cases=cases)
    assert states(made) == {"bad": ("failing", ("zero",)), "good": ("pass", ())}
    assert made.controls_pass is False
    assert made.outcome == "not judged"
    assert any(text.startswith("the control bad fails") for text in made.advice)


def test_what_cannot_be_judged_is_told_and_single_cases_can_be_chosen(runs: DirectRuns) -> None:
    cases = [*CASES, {"name": "cannot", "args": ["cannot"]}]
    made = tried(runs, cases=cases)
    assert made.outcome == "not judged"
    assert states(made)["cannot"] == ("untestable", ())
    assert set(states(tried(runs, Look(cases=("bad",)), cases=cases))) == {"bad"}


def test_a_pattern_that_fits_nothing_is_named(runs: DirectRuns) -> None:
    made = tried(runs, failures=[{"name": "zero", "match": "all zeros"}])
    assert [one.named for one in made.failures] == [None]
    assert any("correct the pattern of zero" in text for text in made.advice)
    assert made.next[0].endswith("--discover")  # what was looked for did not show
