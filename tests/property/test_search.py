"""Properties of the search over thousands of random histories."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisect_tool.search.answer import Kind
from bisect_tool.search.knowledge import Question, state_at
from bisect_tool.search.planner import Policy, Probe, plan, useless
from bisect_tool.search.prices import Prices
from bisect_tool.search.states import Fail, NoVerdict, Pass, Result, Untestable, face
from tests.rig.histories import (
    History,
    any_history,
    flaky_change,
    hole_in_the_middle,
    hole_over_change,
    one_change,
    one_fix,
    scattered_holes,
)
from tests.search.searching import UNVERIFIED, Choose, Search, all_ends, ends, last, search

SEEDS = st.integers(0, 2**32)


def true_neighbours(history: History, case: str, build: int) -> tuple[int | None, int | None]:
    """The testable builds before and after `build`, which are the ones that an answer may name."""
    testable = history.testable(case)
    return (
        max((other for other in testable if other < build), default=None),
        min((other for other in testable if other > build), default=None),
    )


def check(run: Search) -> None:
    """What must hold of every answer, whatever the history."""
    found = run.answer()
    for failure in found.failures:
        states = run.history.states[failure.case]
        for episode in failure.episodes:
            for end in (episode.appeared, episode.fixed):
                if end.kind is Kind.EXACT:
                    assert end.before is not None
                    assert end.after == end.before + 1
                    assert not end.holes
                    assert states[end.before] != states[end.after]
                    assert not {end.before, end.after} & run.history.holes
                if end.before is not None and end.after is not None:
                    between = {hole.build for hole in end.holes}
                    assert between == set(range(end.before + 1, end.after))
    for case, timeline in found.timelines.items():
        for build, state in timeline.items():
            true = run.history.state(case, build)
            shown = None if isinstance(state, Untestable) else face(state)
            assert shown == (frozenset() if true == "pass" else true)
    # Every two neighbouring judged builds that differ are an end that is reported.
    for case, timeline in found.timelines.items():
        judged = [(build, face(state)) for build, state in timeline.items() if not isinstance(state, Untestable)]
        for (before, left), (after, right) in pairwise(judged):
            if left != right and case in run.question.tests:
                assert (before, after) in found.boundaries()


@given(SEEDS, st.integers(2, 60), st.integers(0, 6), st.booleans())
@settings(max_examples=1000, deadline=None)
def test_every_answer_is_consistent_with_the_truth(seed: int, n: int, scan: int, open_start: object) -> None:
    run = search(any_history(random.Random(seed), n), policy=Policy(verify=1, scan=scan), open_start=bool(open_start))
    run.run(most=20 * n + 50)
    check(run)


@given(SEEDS, st.integers(2, 200))
@settings(max_examples=300, deadline=None)
def test_nothing_is_run_twice_but_to_verify(seed: int, n: int) -> None:
    run = search(any_history(random.Random(seed), n))
    run.run(most=20 * n + 50)
    searched = [(build, case) for build, case, purpose in run.served if purpose != "verify"]
    assert len(searched) == len(set(searched))
    assert len(run.installed) <= n


@given(SEEDS, st.integers(2, 300), st.booleans())
@settings(max_examples=300, deadline=None)
def test_one_change_is_named_exactly(seed: int, n: int, fix: object) -> None:
    rng = random.Random(seed)
    history = (one_fix if fix else one_change)(rng, n)
    states = history.states["main"]
    build = next(number for number in range(1, n) if states[number] != states[number - 1])
    found = search(history).run()
    assert ("exact", build - 1, build) in ends(found)
    assert len(found.boundaries()) == 1


@given(SEEDS, st.integers(20, 300), st.sampled_from(["middle", "over", "scattered"]))
@settings(max_examples=300, deadline=None)
def test_a_hole_never_changes_the_answer_only_narrows_it(seed: int, n: int, kind: str) -> None:
    rng = random.Random(seed)
    history = one_change(rng, n)
    match kind:
        case "middle":
            history = hole_in_the_middle(history, n // 4)
        case "over":
            history = hole_over_change(rng, history, n // 5)
        case _:
            history = scattered_holes(rng, history, 0.15)
    run = search(history)
    found = run.run()
    check(run)
    judged = [build for build in history.testable("main") if history.states["main"][build] != "pass"]
    if not judged or len(judged) == len(history.testable("main")):
        return
    end = found.failures[0].episodes[0].appeared
    before, _ = true_neighbours(history, "main", judged[0])
    # The named builds always surround the true change. Only builds inside a hole may have been left untried.
    assert end.before is not None
    assert before is not None
    assert end.before <= before < judged[0] <= (end.after or n)
    untried = {hole.build for hole in end.holes if hole.reason is None} & set(history.testable("main"))
    assert not untried or kind == "scattered"


ORDERS = st.sampled_from(["any", "last", "least"])


def order_of(name: str, seed: int) -> Choose:
    """A way to serve the probes of a plan that the planner did not ask for."""
    rng = random.Random(seed)
    orders: dict[str, Choose] = {
        "any": lambda found: rng.choice(found.probes),
        "last": last,
        "least": lambda found: min(found.probes, key=lambda probe: probe.worth),
    }
    return orders[name]


@given(SEEDS, st.integers(2, 120), ORDERS, st.booleans())
@settings(max_examples=400, deadline=None)
def test_the_order_in_which_probes_are_served_does_not_change_the_answer(
    seed: int, n: int, order: str, hole: object
) -> None:
    rng = random.Random(seed)
    history = one_change(rng, n)
    if hole:
        history = hole_over_change(rng, history, max(1, n // 6))
    other = search(history, choose=order_of(order, seed))
    assert all_ends(other.run(most=20 * n + 50)) == all_ends(search(history).run())


@given(SEEDS, st.integers(2, 80), ORDERS)
@settings(max_examples=400, deadline=None)
def test_any_history_served_in_any_order_is_answered_truly(seed: int, n: int, order: str) -> None:
    run = search(any_history(random.Random(seed), n), choose=order_of(order, seed))
    run.run(most=20 * n + 50)
    check(run)
    assert len(run.installed) <= n


@given(SEEDS, st.integers(2, 100), st.integers(0, 30))
@settings(max_examples=200, deadline=None)
def test_killed_and_resumed_it_gives_the_same_answer(seed: int, n: int, steps: int) -> None:
    history = any_history(random.Random(seed), n)
    whole = search(history)
    begun = search(history)
    for _ in range(steps):
        begun.step()
    resumed = search(history, results=dict(begun.results), broken=dict(begun.broken), installed=set(begun.installed))
    assert resumed.run(most=20 * n + 50) == whole.run(most=20 * n + 50)


def any_question(rng: random.Random, n: int) -> dict[str, Any]:
    """Landmarks, weights, an unknown start and prices, each now and then: none of them may change an answer."""
    return {
        "landmarks": tuple(rng.sample(range(n), min(n, rng.choice([0, 0, 1, 3])))),
        "weights": rng.choice([None, tuple(rng.choice([0.0, 1.0, 30.0]) for _ in range(n))]),
        "open_start": rng.random() < 0.2,
    }


def any_prices(rng: random.Random, n: int) -> Prices:
    return Prices(
        unpack=rng.choice([1.0, 60.0, 600.0]),
        speed=rng.choice([None, 1.0, 100.0]),
        sizes=tuple(rng.choice([None, 10, 10, 900]) for _ in range(n)),
        fetched=frozenset(rng.sample(range(n), rng.randrange(n + 1))),
        trials=rng.choice([{}, {"main": 0.01}, {"main": 50.0}]),
    )


@given(SEEDS, st.integers(2, 80))
@settings(max_examples=400, deadline=None)
def test_prices_weights_and_landmarks_never_make_an_answer_untrue(seed: int, n: int) -> None:
    rng = random.Random(seed)
    history = any_history(rng, n)
    question = Question(n, history.cases, **any_question(rng, n))
    run = Search(history, question, prices=any_prices(rng, n))
    run.run(most=20 * n + 50)
    check(run)
    assert len(run.installed) <= n
    for landmark in question.landmarks:
        tried = (landmark, "main") in {(build, case) for build, case, _ in run.served} or landmark in run.broken
        assert tried or question.open_start


@given(SEEDS, st.integers(2, 200))
@settings(max_examples=200, deadline=None)
def test_one_change_is_named_whatever_the_weights_and_prices(seed: int, n: int) -> None:
    rng = random.Random(seed)
    history = one_change(rng, n)
    question = Question(n, history.cases, weights=any_question(rng, n)["weights"])
    run = Search(history, question, prices=any_prices(rng, n))
    assert all_ends(run.run()) == all_ends(search(history).run())


@given(SEEDS, st.integers(2, 80), st.integers(1, 6))
@settings(max_examples=300, deadline=None)
def test_slots_that_finish_in_any_order_come_to_the_same_answer(seed: int, n: int, workers: int) -> None:
    """A simulated farm: probes start in free slots, end in any order, and are cancelled once they are useless."""
    rng = random.Random(seed)
    history = one_change(rng, n)
    run = search(history)
    running: list[Probe] = []
    for _ in range(20 * n + 50):
        more = plan(run.question, run.known(), run.policy, workers=workers, running=running).probes
        assert workers == 1 or len(running) + len(more) <= workers
        running += more[: workers - len(running)]
        if not running:
            break
        run.serve(running.pop(rng.randrange(len(running))))
        cancelled = useless(run.question, run.known(), running, run.policy)
        running = [probe for probe in running if probe not in cancelled]
    assert not running
    assert all_ends(run.answer()) == all_ends(search(history).run())


@given(SEEDS, st.integers(2, 60), st.integers(1, 6))
@settings(max_examples=300, deadline=None)
def test_any_history_is_answered_truly_by_several_slots(seed: int, n: int, workers: int) -> None:
    rng = random.Random(seed)
    run = search(any_history(rng, n))
    running: list[Probe] = []
    while more := [*running, *plan(run.question, run.known(), run.policy, workers=workers, running=running).probes]:
        running = more
        run.serve(running.pop(rng.randrange(len(running))))
        gone = useless(run.question, run.known(), running, run.policy)
        running = [probe for probe in running if probe not in gone]
    check(run)


@given(SEEDS, st.integers(2, 60), st.integers(1, 6))
@settings(max_examples=300, deadline=None)
def test_what_is_cancelled_is_never_wanted_by_the_next_plan(seed: int, n: int, workers: int) -> None:
    rng = random.Random(seed)
    run = search(any_history(rng, n))
    while probes := plan(run.question, run.known(), run.policy, workers=workers).probes:
        run.serve(probes[0])
        waiting = probes[1:]
        gone = useless(run.question, run.known(), waiting, run.policy)
        wanted = {(probe.build, case) for probe in run.plan().probes for case in probe.cases}
        assert not wanted & {(probe.build, case) for probe in gone for case in probe.cases}
        for probe in waiting:
            if probe not in gone:
                run.serve(probe)


@given(SEEDS, st.integers(3, 60), st.integers(1, 4))
@settings(max_examples=300, deadline=None)
def test_a_contradiction_reopens_the_search(seed: int, n: int, contradictions: int) -> None:
    """A finished search is told that a build behaved otherwise than before: it goes on, and its answer fits everything."""
    rng = random.Random(seed)
    run = search(any_history(rng, n))
    run.run(most=20 * n + 50)
    judged = [key for key, seen in run.results.items() if any(not isinstance(one, NoVerdict) for one in seen)]
    for key in rng.sample(judged, min(contradictions, len(judged))):
        news: tuple[Result, ...] = (Pass(), Fail(frozenset({"A"})), Fail(frozenset({"Z"})))
        run.results[key] = (*run.results[key], rng.choice(news))
    found = run.run(most=200 * n + 500)
    assert not run.plan().probes
    for case, timeline in found.timelines.items():
        assert all(state == state_at(run.question, run.known(), case, build) for build, state in timeline.items())
        judged_states = [(build, face(state)) for build, state in timeline.items() if not isinstance(state, Untestable)]
        for (before, left), (after, right) in pairwise(judged_states):
            assert left == right or (before, after) in found.boundaries()
            # Between two builds that differ nothing was left untried, but inside a hole.
            untried = set(range(before + 1, after)) - run.broken.keys() - {build for _, build in run.results}
            assert left == right or not untried or run.history.holes


@given(SEEDS, st.integers(8, 60))
@settings(max_examples=200, deadline=None)
def test_a_build_that_contradicts_itself_moves_the_change(seed: int, n: int) -> None:
    """The last build without the failure fails when it is run again: the search goes on before it."""
    rng = random.Random(seed)
    history = one_change(rng, n)
    change = next(build for build in range(n) if history.states["main"][build] != "pass")
    run = search(history)
    run.run()
    run.results["main", change - 1] = (*run.results["main", change - 1], Fail(frozenset({"A"})))
    if change < 3:
        return
    assert ("exact", change - 1, change) not in all_ends(run.answer())
    assert run.plan().probes
    run.run(most=20 * n + 200)
    assert change - 2 in {build for _, build in run.results}


@given(SEEDS, st.integers(2, 60), st.integers(0, 20))
@settings(max_examples=200, deadline=None)
def test_the_plan_depends_on_the_content_of_what_is_known_alone(seed: int, n: int, steps: int) -> None:
    run = search(any_history(random.Random(seed), n))
    for _ in range(steps):
        run.step()
    known = run.known()
    shuffled = list(known.results.items())
    random.Random(seed).shuffle(shuffled)
    again = type(known)(dict(shuffled), dict(sorted(known.broken.items(), reverse=True)), known.ready, known.prices)
    assert plan(run.question, again, run.policy) == run.plan()


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.5), (0.0, 0.7), (0.0, 0.9)])
def test_a_flaky_failure_is_rarely_named_at_a_wrong_build(before: float, after: float) -> None:
    """Without an error model the search is fooled when flakiness never shows: measured here, told in docs/search.md."""
    wrong = wrong_although_noticed = 0
    for seed in range(200):
        rng = random.Random(seed)
        history = flaky_change(rng, 60, before, after)
        build = next(number for number, state in enumerate(history.states["main"]) if state != "pass")
        run = search(history, rng=rng)
        found = run.run(most=4000)
        exact = [end for end in all_ends(found) if end[0] == "exact"]
        is_wrong = bool(exact) and ("exact", build - 1, build) not in exact
        wrong += is_wrong
        wrong_although_noticed += is_wrong and any({*map(type, seen)} == {Pass, Fail} for seen in run.results.values())
    assert wrong <= {0.5: 16, 0.7: 10, 0.9: 2}[after]
    assert wrong_although_noticed <= 2


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_an_exact_end_is_never_a_lucky_pass(seed: int) -> None:
    """Once flakiness was seen, the passing side of an exact end has had enough passes to rule out luck at that rate."""
    rng = random.Random(seed)
    run = search(flaky_change(rng, 40, 0.0, 0.4), rng=rng)
    found = run.run(most=4000)
    for failure in found.failures:
        results = {build: seen for (case, build), seen in run.results.items() if case == failure.case}
        rates = [
            sum(isinstance(one, Fail) for one in seen) / len(seen)
            for seen in results.values()
            if {type(one) for one in seen} == {Pass, Fail}
        ]
        for episode in failure.episodes:
            before = episode.appeared.before
            if episode.appeared.kind is Kind.EXACT and before is not None and rates:
                assert (1 - min(rates)) ** len(results[before]) <= 0.01


def test_the_policy_without_verification_costs_nothing_more() -> None:
    run = search(one_change(random.Random(1), 366), policy=UNVERIFIED)
    run.run()
    assert all(len(seen) == 1 for seen in run.results.values())
