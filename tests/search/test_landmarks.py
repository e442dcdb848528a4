from __future__ import annotations

import pytest

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import Purpose, plan
from bisect_tool.search.states import Fail, NoVerdict, Pass, Result
from tests.rig.histories import History, stepwise
from tests.search.searching import UNVERIFIED, Search, ends

A = frozenset({"A"})


def test_landmarks_are_judged_with_the_ends() -> None:
    found = plan(Question(100, ("main",), landmarks=(49, 50)), Known()).probes
    assert {(probe.build, probe.purpose.value) for probe in found} == {
        (0, "end of the range"),
        (49, "landmark"),
        (50, "landmark"),
        (99, "end of the range"),
    }


def test_a_failure_between_landmarks_is_found_although_the_ends_agree() -> None:
    history = stepwise([(45, "pass"), (10, A), (45, "pass")])
    found = Search(history, Question(100, ("main",), landmarks=(49, 50)), UNVERIFIED).run()
    assert ends(found) == [("exact", 44, 45), ("exact", 54, 55)]


def test_an_untestable_landmark_is_looked_for_on_both_sides() -> None:
    history = History({"main": ("pass",) * 101}, frozenset(range(47, 53)))
    run = Search(history, Question(101, ("main",), landmarks=(50,)), UNVERIFIED)
    run.run()
    # 1, 2, 4 builds away: 46 and 54 are the first that can be tested.
    assert [build for build, _, purpose in run.served if purpose == "landmark"] == [46, 54]
    assert {46, 48, 49, 50, 51, 52, 54} <= run.installed


def test_a_landmark_whose_neighbours_are_all_dead_costs_a_logarithmic_number_of_installs() -> None:
    history = History({"main": ("pass",) * 1000}, frozenset(range(1, 999)))
    run = Search(history, Question(1000, ("main",), landmarks=(500,)), UNVERIFIED)
    run.run()
    assert len(run.installed) <= 40


def test_with_an_unknown_start_only_landmarks_that_the_walk_has_passed_count() -> None:
    history = stepwise([(80, "pass"), (20, A)])
    run = Search(history, Question(100, ("main",), open_start=True, landmarks=(10, 97)), UNVERIFIED)
    assert ends(run.run()) == [("exact", 79, 80), ("open", 99, None)]
    assert 97 in run.installed
    assert 10 not in run.installed


def test_a_landmark_that_is_an_end_is_asked_for_once() -> None:
    found = plan(Question(10, ("main",), landmarks=(0, 9)), Known()).probes
    assert [(probe.build, probe.worth) for probe in found] == [(0, 2.0), (9, 2.0)]


def test_a_landmark_without_a_verdict_for_one_case_is_looked_for_by_this_case_and_offered_to_the_others() -> None:
    known: dict[tuple[str, int], tuple[Result, ...]] = {
        (case, build): (Pass(),) for case in ("a", "b") for build in (0, 50, 99)
    }
    known["b", 50] = (NoVerdict("125"),)
    known["a", 99] = (Fail(A),)
    found = plan(Question(100, ("a", "b"), landmarks=(50,)), Known(known)).probes
    landmarks = {(probe.build, probe.cases) for probe in found if probe.purpose is Purpose.LANDMARK}
    # Case a passes on build 50: of the two, only build 51 lies in its gap.
    assert landmarks == {(49, ("b",)), (51, ("a", "b"))}


def test_a_landmark_outside_the_range_is_refused() -> None:
    with pytest.raises(ValueError, match="landmarks"):
        Question(10, ("main",), landmarks=(10,))
