"""What a run tells of failures that come and go while it is under way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bisect_tool.reports import events
from bisect_tool.reports.study_stand import SideRate, StudyStand
from bisect_tool.runs.rate_news import has_moved
from bisect_tool.runs.run import run_specs
from bisect_tool.runs.surveying import Wishes
from bisect_tool.search.policy import Policy
from tests.rig.direct_runs import direct_runs

# Always there from 1.2 on: the fewest trials with which a rate can be studied.
SCRIPT = """import torch
if torch.__version__ >= "1.2":
    raise RuntimeError("gradient is all zero")
"""
SIDE = SideRate(0, 9, 0.0, 0.3)


def told(trials: int, *chances: float) -> events.RatesStudied:
    return events.RatesStudied("main", "zero", (StudyStand(0, 3, trials, "unfinished", SIDE, SIDE, chances=chances),))


def test_a_run_tells_what_it_believes_until_it_knows(tmp_path: Path) -> None:
    said: list[events.Event] = []
    with direct_runs(tmp_path, 4) as runs:
        wishes = Wishes(policy=Policy(confidence=0.8))
        run_specs(runs.workshop(), [runs.spec(SCRIPT, flaky="yes")], wishes, said.append)
    studied = [one for one in said if isinstance(one, events.RatesStudied)]
    assert {(one.case, one.failure) for one in studied} == {("repro", "RuntimeError: gradient is all zero")}
    (first,), (last,) = studied[0].studies, studied[-1].studies
    assert (first.verdict, first.chances, first.trials_left) == ("unfinished", (), None)
    assert (last.verdict, last.before, last.after) == ("found", 1, 2)
    assert max(last.chances) == last.chances[1] > 0.9
    open_ones = [stand for one in studied for stand in one.studies if stand.chances and stand.verdict == "unfinished"]
    assert open_ones
    assert all(len(one.chances) == 3 and one.trials_left and one.seconds_left for one in open_ones)
    trials = [one.studies[0].trials for one in studied]
    assert trials == sorted(trials)
    assert isinstance(said[-1], events.RunFinished)


def test_what_an_eye_would_not_see_is_not_told() -> None:
    before = told(100, 0.2, 0.5, 0.2)
    assert has_moved(None, before)
    assert not has_moved(before, told(101, 0.205, 0.495, 0.2))
    assert has_moved(before, told(101, 0.22, 0.48, 0.2))
    assert has_moved(before, told(111, 0.2, 0.5, 0.2))


def test_a_verdict_and_another_cut_are_told() -> None:
    before = told(100, 0.2, 0.5, 0.2)
    stand = before.studies[0]
    assert has_moved(before, replace(before, studies=(replace(stand, verdict="not converged"),)))
    assert has_moved(before, replace(before, studies=(replace(stand, first=1, chances=(0.5, 0.2)),)))
    assert has_moved(before, replace(before, studies=(stand, stand)))
