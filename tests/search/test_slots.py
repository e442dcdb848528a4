from __future__ import annotations

import random
from math import ceil, log

import pytest

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import Policy, Probe, Purpose, plan, useless
from bisect_tool.search.states import Fail, Pass, Result
from tests.rig.histories import History, one_change, stepwise
from tests.search.searching import UNVERIFIED, Search, ends

A = frozenset({"A"})
Results = dict[tuple[str, int], tuple[Result, ...]]
OPEN: Results = {("main", 0): (Pass(),), ("main", 60): (Fail(A),)}
QUESTION = Question(61, ("main",))


def split(build: int, *cases: str) -> Probe:
    return Probe(build, cases or ("main",), Purpose.SPLIT, 1.0)


@pytest.mark.parametrize(
    ("workers", "builds"), [(1, [30]), (2, [20, 40]), (3, [15, 30, 45]), (5, [10, 20, 30, 40, 50])]
)
def test_a_gap_is_cut_into_equal_parts(workers: int, builds: list[int]) -> None:
    found = plan(QUESTION, Known(OPEN), workers=workers).probes
    assert sorted(probe.build for probe in found) == builds


def test_a_slot_that_becomes_free_halves_the_largest_part_between_running_probes() -> None:
    found = plan(QUESTION, Known(OPEN), workers=3, running=[split(15), split(20)]).probes
    assert [probe.build for probe in found] == [40]


def test_slots_go_to_the_gap_where_they_tell_most() -> None:
    """Two cases share the gap from 0 to 60, a third has its own: the first slot is worth two bits there, the next 1.2."""
    passing = [("a", 0), ("b", 0), ("c", 0), ("c", 60), ("c", 100)]
    failing = [(case, build) for case in "ab" for build in (60, 100, 140, 199)] + [("c", 140), ("c", 199)]
    known: Results = {**dict.fromkeys(passing, (Pass(),)), **dict.fromkeys(failing, (Fail(A),))}
    question = Question(200, ("a", "b", "c"))
    assert [probe.build for probe in plan(question, Known(known), UNVERIFIED, workers=2).probes] == [20, 40]
    assert [probe.build for probe in plan(question, Known(known), UNVERIFIED, workers=3).probes] == [20, 40, 120]


def test_no_more_probes_than_slots_and_none_twice() -> None:
    found = plan(Question(5, ("main",)), Known(), workers=8).probes
    assert sorted(probe.build for probe in found) == [0, 1, 2, 3, 4]
    assert plan(Question(5, ("main",)), Known(), workers=5, running=found).probes == ()


def test_both_ends_come_first_and_spare_slots_look_inside() -> None:
    found = plan(Question(61, ("main",)), Known(), workers=4).probes
    assert [probe.build for probe in found[:2]] == [0, 60]
    assert sorted(probe.build for probe in found[2:]) == [20, 40]


def test_slots_avoid_a_hole() -> None:
    known = Known(OPEN, broken=dict.fromkeys(range(18, 24), "broken"))
    builds = {probe.build for probe in plan(QUESTION, known, workers=2).probes}
    assert len(builds) == 2
    assert not builds & set(range(18, 24))


def rounds(history: History, workers: int) -> tuple[int, int]:
    """Rounds of so many probes at a time: those in all, and those that did not judge an end."""
    run = Search(history, Question(history.n, history.cases), UNVERIFIED)
    made = first = 0
    while probes := plan(run.question, run.known(), run.policy, workers=workers).probes:
        made += 1
        first += any(probe.purpose is Purpose.END for probe in probes)
        for probe in probes:
            run.serve(probe)
    change = next(build for build in range(history.n) if history.states["main"][build] != "pass")
    assert ends(run.answer())[0] == ("exact", change - 1, change)
    return made, made - first


@pytest.mark.parametrize("workers", [1, 2, 4, 8])
def test_rounds_are_those_of_k_section(workers: int) -> None:
    for seed in range(40):
        _, narrowing = rounds(one_change(random.Random(seed), 366), workers)
        assert narrowing <= ceil(log(365, workers + 1)) + 1


def test_a_probe_between_builds_that_agree_by_now_is_useless() -> None:
    running = [split(15), split(30), split(45)]
    known = Known(OPEN | {("main", 20): (Fail(A),)})
    assert [probe.build for probe in useless(QUESTION, known, running)] == [30, 45]


def test_a_probe_that_another_case_still_needs_is_not_useless() -> None:
    known: Results = {(case, build): result for case in "ab" for (_, build), result in OPEN.items()}
    known["a", 20] = (Fail(A),)
    question = Question(61, ("a", "b"))
    assert useless(question, Known(known), [split(40, "a", "b")]) == []
    assert useless(question, Known(known), [split(40, "a")]) == [split(40, "a")]


def test_verification_and_second_looks_are_not_useless() -> None:
    verify = Probe(20, ("main",), Purpose.VERIFY, 1.0)
    known = Known(OPEN | {("main", 20): (Fail(A),), ("main", 19): (Pass(),)})
    assert useless(QUESTION, known, [verify, split(40)], Policy(aside=None)) == [split(40)]
    agree: Results = {("main", 0): (Pass(),), ("main", 60): (Pass(),)}
    assert useless(QUESTION, Known(agree), [split(15), split(45)]) == []


def test_a_verification_for_which_the_gap_has_moved_is_useless() -> None:
    verify = Probe(20, ("main",), Purpose.VERIFY, 1.0)
    known = Known(OPEN | {("main", 19): (Fail(A),), ("main", 18): (Pass(),)} | {("main", 20): (Fail(A),)})
    assert useless(QUESTION, known, [verify]) == [verify]


def test_several_steps_back_are_not_made_useless_by_each_other() -> None:
    history = stepwise([(20, "pass"), (41, A)])
    run = Search(history, Question(61, ("main",), open_start=True), UNVERIFIED)
    while probes := plan(run.question, run.known(), run.policy, workers=2).probes:
        for probe in probes:
            run.serve(probe)
    assert ends(run.answer()) == [("exact", 19, 20), ("open", 60, None)]


def test_a_look_inside_stays_of_use_when_the_first_of_both_ends_is_judged() -> None:
    assert useless(QUESTION, Known({("main", 0): (Pass(),)}), [split(20), split(40)]) == []
