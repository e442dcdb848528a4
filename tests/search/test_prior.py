from __future__ import annotations

import pytest

from bisect_tool.search.knowledge import Gap, Known, Question
from bisect_tool.search.planner import Policy, plan
from bisect_tool.search.prior import prior_of
from bisect_tool.search.states import Fail, Pass
from tests.rig.histories import steady, stepwise
from tests.search.searching import UNVERIFIED, Search, ends

A = frozenset({"A"})


def weighted(size: int, heavy: dict[int, float]) -> tuple[float, ...]:
    return tuple(heavy.get(build, 0.0) for build in range(size))


def installs(weights: tuple[float, ...] | None, change: int, size: int = 366) -> int:
    history = stepwise([(change, "pass"), (size - change, A)])
    run = Search(history, Question(size, ("main",), weights=weights), UNVERIFIED)
    assert ends(run.run()) == [("exact", change - 1, change), ("open", size - 1, None)]
    return len(run.installed)


def test_a_certain_place_costs_both_its_sides_and_the_ends() -> None:
    assert installs(weighted(366, {200: 1.0}), 200) == 4


def test_weights_that_mislead_cost_two_probes_at_most() -> None:
    misled = [installs(weighted(366, {200: 5.0, 100: 1.0}), change) for change in range(1, 366, 7)]
    plain = [installs(None, change) for change in range(1, 366, 7)]
    assert sum(misled) / len(misled) <= sum(plain) / len(plain) + 2


def test_equal_weights_are_no_weights() -> None:
    question = Question(65, ("main",), weights=(1.0,) * 65)
    known = Known({("main", 0): (Pass(),), ("main", 64): (Fail(A),)})
    assert plan(question, known).probes[0].build == 32


def test_weights_of_nothing_are_no_weights() -> None:
    assert prior_of(Question(3, ("main",), weights=(7.0, 0.0, 0.0))).below is None


@pytest.mark.parametrize("weights", [(1.0, 2.0), (1.0, -1.0, 2.0), (1.0, float("inf"), 2.0), (1.0, float("nan"), 2.0)])
def test_weights_that_are_none_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="weights"):
        prior_of(Question(3, ("main",), weights=weights))


def test_the_share_of_a_gap_is_that_of_its_weight() -> None:
    """A quarter of the weight lies evenly on four places, the rest at the place before build 3."""
    prior = prior_of(Question(5, ("main",), weights=(0.0, 0.0, 0.0, 1.0, 0.0)))
    gap = Gap(0, 4, (), differs=True)
    assert [prior.share(gap, build) for build in (1, 2, 3)] == pytest.approx([1 / 16, 2 / 16, 15 / 16])
    assert prior.place(gap, 0.5) in {2, 3}


def second_look(weights: tuple[float, ...] | None) -> set[int]:
    run = Search(steady(101), Question(101, ("main",), weights=weights), UNVERIFIED)
    run.run()
    return run.installed


def test_a_failure_that_came_and_went_is_looked_for_evenly() -> None:
    """Both ends pass. Weights are about another failure, so that the second look is spread as ever."""
    assert second_look(weighted(101, {3: 1.0})) == second_look(None)


def test_a_look_aside_halves_whatever_the_weights() -> None:
    """The change is at 10. From 10 to 100 all agree: halves, until none is 30 % of the range."""
    history = stepwise([(10, "pass"), (91, A)])
    run = Search(
        history, Question(101, ("main",), weights=weighted(101, {10: 5.0, 12: 3.0, 14: 2.0})), Policy(verify=1)
    )
    run.run()
    assert sorted(build for build, _, purpose in run.served if purpose == "scan") == [32, 55, 77]


def test_several_slots_look_evenly_too() -> None:
    known = Known({("main", 0): (Pass(),), ("main", 100): (Pass(),)})
    found = plan(Question(101, ("main",), weights=weighted(101, {3: 1.0})), known, UNVERIFIED, workers=3)
    assert sorted(probe.build for probe in found.probes) == [25, 50, 75]
