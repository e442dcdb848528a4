from __future__ import annotations

import random

import pytest

from bisect_tool.search.answer import Kind, Outcome
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import Policy, Purpose, plan
from bisect_tool.search.states import Fail, NoVerdict, Pass, Result
from tests.rig.histories import History, hole_over_change, joined, one_change, steady, stepwise, unjudged
from tests.search.searching import UNVERIFIED, ends, search

A, B = frozenset({"A"}), frozenset({"B"})


def change_at(build: int, n: int = 64) -> History:
    return stepwise([(build, "pass"), (n - build, A)])


def test_both_ends_come_first() -> None:
    found = plan(Question(10, ("main",)), Known())
    assert {probe.build for probe in found.probes} == {0, 9}
    assert {probe.purpose for probe in found.probes} == {Purpose.END}


def test_then_the_middle() -> None:
    known = Known({("main", 0): (Pass(),), ("main", 64): (Fail(A),)})
    assert plan(Question(65, ("main",)), known).probes[0].build == 32


def test_equal_ends_end_the_search_unless_it_may_look_again() -> None:
    known = Known({("main", 0): (Pass(),), ("main", 64): (Pass(),)})
    assert plan(Question(65, ("main",)), known, Policy(scan=0)).probes == ()
    assert plan(Question(65, ("main",)), known).probes[0].build == 32


def test_a_failure_that_came_and_went_between_equal_ends_is_found() -> None:
    found = search(stepwise([(3, "pass"), (3, A), (1, "pass")])).run()
    assert ends(found) == [("exact", 2, 3), ("exact", 5, 6)]


def test_a_second_look_costs_no_more_than_a_bisection() -> None:
    run = search(steady(366, "pass"))
    assert run.run().outcome is Outcome.NO_CHANGE
    assert len(run.installed) == 11


def test_a_build_that_is_here_is_preferred() -> None:
    known = Known({("main", 0): (Pass(),), ("main", 64): (Fail(A),)}, ready=frozenset({24}))
    assert plan(Question(65, ("main",)), known).probes[0].build == 24


def test_a_build_that_is_here_and_says_little_is_not() -> None:
    known = Known({("main", 0): (Pass(),), ("main", 64): (Fail(A),)}, ready=frozenset({1}))
    assert plan(Question(65, ("main",)), known).probes[0].build == 32


def test_controls_run_before_tests_and_only_once() -> None:
    question = Question(3, ("main",), ("eager",))
    assert plan(question, Known()).probes[0].cases == ("eager", "main")
    assert plan(question, Known({("eager", 0): (Pass(),)})).probes[0].cases == ("main",)


@pytest.mark.parametrize("build", [1, 2, 31, 32, 33, 62, 63])
def test_one_change(build: int) -> None:
    run = search(change_at(build))
    assert ends(run.run()) == [("exact", build - 1, build), ("open", 63, None)]


def test_both_sides_of_a_change_are_run_three_times_and_nothing_else_twice() -> None:
    run = search(change_at(40))
    run.run()
    counts = {build: len(results) for (_, build), results in run.results.items()}
    assert counts.pop(39) == counts.pop(40) == 3
    assert set(counts.values()) == {1}


def test_appear_fix_and_appear_again_with_a_scan() -> None:
    history = stepwise([(30, "pass"), (20, A), (20, "pass"), (30, A)])
    found = search(history, policy=Policy(scan=9)).run()
    assert ends(found) == [("exact", 29, 30), ("exact", 49, 50), ("exact", 69, 70), ("open", 99, None)]


def test_a_failure_that_turns_into_another() -> None:
    found = search(stepwise([(20, "pass"), (20, A), (20, B)])).run()
    episode = found.failures[0].episodes[0]
    assert (episode.fixed.before, episode.fixed.after, episode.fixed.other) == (39, 40, B)
    assert found.failures[1].episodes[0].appeared.other == A


def test_a_hole_over_the_change_is_stated() -> None:
    history = History({"main": stepwise([(30, "pass"), (34, A)]).states["main"]}, frozenset(range(27, 36)))
    end = search(history).run().failures[0].episodes[0].appeared
    assert (end.kind, end.before, end.after) == (Kind.NARROWED, 26, 36)
    assert [hole.build for hole in end.holes] == list(range(27, 36))


def test_the_builds_of_a_small_hole_are_all_tried() -> None:
    history = History({"main": stepwise([(30, "pass"), (34, A)]).states["main"]}, frozenset({29, 30, 31}))
    holes = search(history).run().failures[0].episodes[0].appeared.holes
    assert [hole.reason for hole in holes] == ["cannot be installed"] * 3


def test_a_large_hole_is_crossed_without_trying_all_of_it() -> None:
    history = hole_over_change(random.Random(3), one_change(random.Random(3), 366), 60)
    run = search(history, policy=UNVERIFIED)
    found = run.run()
    assert found.outcome is Outcome.NARROWED
    assert len(run.installed) <= 30


def test_a_failing_control_makes_a_build_untestable() -> None:
    eager = unjudged(steady(64, "pass", "eager"), [], "eager")
    states = list(eager.states["eager"])
    states[40] = B
    history = joined(change_at(40), History({"eager": tuple(states)}))
    end = search(history, controls=("eager",)).run().failures[0].episodes[0].appeared
    assert (end.kind, end.before, end.after) == (Kind.NARROWED, 39, 41)
    assert end.holes[0].reason == "control eager fails: B"


def test_cases_share_their_builds() -> None:
    cases = [stepwise([(n, "pass"), (366 - n, frozenset({f"F{n}"}))], f"case{n}") for n in (100, 105, 110)]
    together = search(joined(*cases), policy=UNVERIFIED)
    together.run()
    alone = [search(case, policy=UNVERIFIED) for case in cases]
    for one in alone:
        one.run()
    assert (len(together.installed), sum(len(one.installed) for one in alone)) == (15, 31)


def test_steps_left_shrinks_to_nothing() -> None:
    run = search(change_at(40))
    left = [run.plan().steps_left]
    while run.step():
        left.append(run.plan().steps_left)
    assert left[0] == 8
    assert left[-1] == 0


def test_a_build_that_one_case_wants_is_offered_to_the_others() -> None:
    """Case a has 24 to 64 left and splits it at 40; case b alone would take the middle of 0 and 64."""
    question = Question(65, ("a", "b"))
    known: dict[tuple[str, int], tuple[Result, ...]] = {
        ("a", 24): (Pass(),),
        ("a", 0): (Pass(),),
        ("a", 64): (Fail(A),),
        ("b", 0): (Pass(),),
        ("b", 64): (Fail(A),),
    }
    best = plan(question, Known(known)).probes[0]
    assert (best.build, best.cases) == (40, ("a", "b"))


def test_a_plan_has_few_probes_however_many_builds_there_are() -> None:
    known: dict[tuple[str, int], tuple[Result, ...]] = {
        ("main", 0): (Pass(),),
        ("main", 5000): (NoVerdict("125"),),
        ("main", 9999): (Fail(A),),
    }
    found = plan(Question(10_000, ("main",)), Known(known))
    # The worth (1 - 2 / d) (1 - 2 d² / (n² log 2)) has its peak at d³ = n² log 2 / 2: 326 builds beside the dead one.
    assert [probe.build for probe in found.probes] == [4675, 5325]


def test_builds_left_untried_inside_a_hole_are_no_steps() -> None:
    history = History({"main": change_at(200, 366).states["main"]}, frozenset(range(150, 250)))
    run = search(history)
    end = run.run().failures[0].episodes[0].appeared
    assert any(hole.reason is None for hole in end.holes)
    assert run.plan().steps_left == 0
