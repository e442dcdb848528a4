"""Flaky cases among the others: how they are noticed, what that costs, and what the answer says."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from bisect_tool.search.answer import Answer, Kind, Outcome, answer
from bisect_tool.search.flaky.evidence import HIDDEN
from bisect_tool.search.flaky.verdict import Found, NoReliableChange, NotConverged
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import plan
from bisect_tool.search.policy import Flakiness, Policy
from bisect_tool.search.prices import Prices
from bisect_tool.search.states import Fail, NoVerdict, Pass, Result
from tests.rig.histories import History, flaky_change, joined, masked, one_change, steady, stepwise
from tests.search.searching import Search, all_ends, search

AUTO, YES, NO = (Policy(flaky=mode) for mode in (Flakiness.AUTO, Flakiness.YES, Flakiness.NO))
PRICES = Prices(unpack=60.0, trials={"main": 12.0})


def run(history: History, policy: Policy, seed: int = 0) -> tuple[Search, Answer]:
    found = search(history, policy=policy, rng=random.Random(seed), prices=PRICES)
    return found, found.run(3000)


def trials(found: Search) -> int:
    return sum(map(len, found.results.values()))


@pytest.mark.parametrize("seed", range(12))
def test_a_deterministic_repro_pays_eight_trials_to_notice_that_it_is(seed: int) -> None:
    history = one_change(random.Random(seed), 60)
    (plain, answer), (careful, same) = run(history, NO), run(history, AUTO)
    assert all_ends(same) == all_ends(answer)
    assert trials(careful) - trials(plain) <= 8
    assert careful.installed == plain.installed


def test_a_repro_that_never_fails_pays_sixteen() -> None:
    (plain, _), (careful, _) = run(steady(60), NO), run(steady(60), AUTO)
    assert trials(careful) - trials(plain) == 16
    assert careful.installed == plain.installed


def test_with_trust_nothing_is_run_twice() -> None:
    found, _ = run(one_change(random.Random(1), 60), Policy(flaky=Flakiness.AUTO, trust=True))
    assert {len(results) for results in found.results.values()} == {1}


@pytest.mark.parametrize("policy", [AUTO, YES])
@pytest.mark.parametrize(("before", "after"), [(0.0, 0.5), (0.1, 0.9), (0.9, 0.2)])
def test_a_change_of_rate_is_found_and_told(policy: Policy, before: float, after: float) -> None:
    history = flaky_change(random.Random(7), 60, before, after)
    at = next(build for build in range(60) if history.states["main"][build] != history.states["main"][0])
    found, answer = run(history, policy, seed=3)
    end = "appeared" if after > before else "fixed"
    episode = answer.failures[0].episodes[0]
    assert (getattr(episode, end).kind, getattr(episode, end).before) == (Kind.EXACT, at - 1)
    verdict = answer.failures[0].studies[0].verdict
    assert isinstance(verdict, Found)
    assert verdict.older.low <= before <= verdict.older.high
    assert verdict.newer.low <= after <= verdict.newer.high
    assert len(found.installed) <= 12


def test_no_reliable_change_is_an_outcome() -> None:
    found, answer = run(steady(60, ("flaky", "A", 0.4)), AUTO)
    assert answer.outcome is Outcome.NO_CHANGE
    assert isinstance(answer.failures[0].studies[0].verdict, NoReliableChange)
    assert [end for end, _, _ in all_ends(answer)] == ["open", "open"]
    assert len(found.installed) == 2


def test_a_failure_that_hides_another_is_neither_for_nor_against_it() -> None:
    """A shows half of the time from build 30 on, but from 25 to 35 every trial fails with B."""
    history = masked(stepwise([(30, "pass"), (30, ("flaky", "A", 0.5))]), 25, 36, "B")
    _, answer = run(history, AUTO, seed=1)
    one = next(failure for failure in answer.failures if failure.failure == "A").episodes[0].appeared
    assert (one.kind, one.before, one.after) == (Kind.NARROWED, 24, 36)
    assert {hole.reason for hole in one.holes} <= {"fails with B, which may hide it", None}
    other = next(failure for failure in answer.failures if failure.failure == "B").episodes[0]
    assert (other.appeared.before, other.fixed.after) == (24, 36)


def test_a_flaky_case_does_not_disturb_a_steady_one() -> None:
    rng = random.Random(4)
    history = joined(flaky_change(rng, 60, 0.0, 0.5), one_change(rng, 60, "S", "steady"))
    at = next(build for build in range(60) if history.states["steady"][build] != "pass")
    _, answer = run(history, AUTO)
    mine = next(failure for failure in answer.failures if failure.case == "steady")
    assert not mine.studies
    assert (mine.episodes[0].appeared.kind, mine.episodes[0].appeared.after) == (Kind.EXACT, at)


def driven(trial: Callable[[int, int], Result], policy: Policy, size: int = 10, most: int = 400) -> dict[int, int]:
    """How many trials each build of a case was given until the search ended; `trial(build, number)` is what one says."""
    question, results = Question(size, ("main",)), dict[tuple[str, int], tuple[Result, ...]]()
    for _ in range(most):
        probes = plan(question, Known(results, ready=frozenset(build for _, build in results)), policy).probes
        if not probes:
            return {build: len(seen) for (_, build), seen in sorted(results.items())}
        build, count = probes[0].build, max(1, probes[0].trials[0])
        seen = results.get(("main", build), ())
        results = {
            **results,
            ("main", build): (*seen, *(trial(build, len(seen) + number) for number in range(count))),
        }
    raise AssertionError("the search does not end")


FAILS, OTHER, NOTHING = Fail(frozenset({"A"})), Fail(frozenset({"B"})), NoVerdict("125")


def test_an_end_that_says_nothing_any_more_is_not_run_for_ever() -> None:
    """The newest build fails once, and can never be judged again."""
    ran = driven(lambda build, number: Pass() if build < 9 else NOTHING if number else FAILS, AUTO)
    assert ran[9] <= 1 + 4 + 4


@pytest.mark.parametrize("later", [OTHER, NOTHING])
def test_a_build_inside_that_says_nothing_any_more_is_not_run_for_ever(later: Result) -> None:
    """From build 5 on it comes and goes; build 5 itself shows it once and never again says anything about it."""

    def trial(build: int, number: int) -> Result:
        if build == 5:
            return later if number else FAILS
        return FAILS if build > 5 and number % 2 == 0 else Pass()

    ran = driven(trial, AUTO)
    assert ran[5] <= 1 + 2 * HIDDEN + 16


def test_an_end_that_comes_and_goes_and_then_says_nothing_is_not_run_for_ever() -> None:
    def trial(build: int, number: int) -> Result:
        if build == 9:
            return (FAILS, Pass())[number] if number < 2 else NOTHING
        return FAILS if build > 4 and number % 2 == 0 else Pass()

    assert driven(trial, AUTO)[9] <= 2 + 3 * HIDDEN + 16


@pytest.mark.parametrize("is_newest", [False, True])
def test_what_an_end_showed_before_it_fell_silent_is_not_forgotten(is_newest: bool) -> None:  # noqa: FBT001
    """The failure was seen at that end, so it did not appear, or go, between others: no name, and nobody asks for more."""
    often, never, silent = (FAILS,) * 15 + (Pass(),) * 5, (Pass(),) * 20, (FAILS,) + (OTHER,) * 2 * HIDDEN
    ran: list[tuple[Result, ...]] = [silent, *[never] * 4, *[often] * 5]
    if is_newest:
        ran.reverse()
    known = Known({("main", build): results for build, results in enumerate(ran)}, ready=frozenset(range(10)))
    question = Question(10, ("main",))
    assert plan(question, known, AUTO).probes == ()
    (found,) = [one for one in answer(question, known, AUTO).failures if one.failure == "A"]
    (episode,) = found.episodes
    assert (episode.appeared.kind, episode.fixed.kind) == (Kind.OPEN, Kind.OPEN)
    assert isinstance(found.studies[0].verdict, NotConverged)
