"""Splitting a gap with weights, next to the fewest probes of any search."""

from __future__ import annotations

import random
from functools import cache
from itertools import accumulate

import pytest

from bisect_tool.search.knowledge import Gap, Question
from bisect_tool.search.prior import EVEN, Prior, prior_of
from bisect_tool.search.weighted_split import best_split


def prior(weights: list[float]) -> Prior:
    """The prior of places with these weights, the oldest first."""
    return prior_of(Question(len(weights) + 1, ("main",), weights=(0.0, *weights)))


def probes(told: Prior, before: int, after: int, *, halving: bool = False) -> float:
    """How many probes the places between two builds take, summed by weight."""
    if after - before < 2:
        return 0.0
    gap = Gap(before, after, (), differs=True)
    cut = told.place(gap, 0.5) if halving else best_split(gap, told)
    parts = probes(told, before, cut, halving=halving) + probes(told, cut, after, halving=halving)
    return told.weight(before, after) + parts


def fewest(weights: list[float]) -> float:
    """The least of any order of splits, by trying all of them."""
    places = [EVEN / len(weights) + (1 - EVEN) * weight / sum(weights) for weight in weights]
    below = [0.0, *accumulate(places)]

    @cache
    def least(before: int, after: int) -> float:
        if after - before < 2:
            return 0.0
        parts = min(least(before, cut) + least(cut, after) for cut in range(before + 1, after))
        return below[after] - below[before] + parts

    return least(0, len(weights))


def peaked(seed: int) -> list[float]:
    """Forty places, a few of which have most of the weight, as of a history."""
    rng = random.Random(seed)
    return [rng.random() ** rng.choice((2, 30)) for _ in range(40)]


def test_the_sides_of_a_heavy_place_are_probed_at_once() -> None:
    """Halving may come to them by way of builds beside them: the middle of the weight lies inside the heavy place."""
    told = prior([1.0] * 20 + [60.0] + [1.0] * 20)
    assert best_split(Gap(0, 41, (), differs=True), told) in {20, 21}
    assert best_split(Gap(20, 41, (), differs=True), told) == 21


def test_a_heavy_place_at_the_side_costs_one_probe() -> None:
    told = prior([60.0] + [1.0] * 40)
    assert best_split(Gap(0, 41, (), differs=True), told) == 1


@pytest.mark.parametrize("seed", range(12))
def test_hardly_more_probes_than_any_search_needs(seed: int) -> None:
    weights = peaked(seed)
    assert probes(prior(weights), 0, 40) <= 1.05 * fewest(weights)


def test_fewer_probes_than_by_halves() -> None:
    told = [prior(peaked(seed)) for seed in range(40)]
    assert sum(probes(one, 0, 40) for one in told) < sum(probes(one, 0, 40, halving=True) for one in told)


def test_two_builds_with_one_between() -> None:
    assert best_split(Gap(3, 5, (), differs=True), prior([1.0, 2.0, 3.0, 4.0, 5.0])) == 4


def test_the_heaviest_place_of_any_stretch() -> None:
    rng = random.Random(5)
    weights = [float(rng.randrange(50)) for _ in range(400)]
    told = prior(weights)
    for _ in range(300):
        before, after = sorted(rng.sample(range(401), 2))
        stretch = weights[before:after]
        assert told.heaviest(before, after) == before + 1 + stretch.index(max(stretch))
