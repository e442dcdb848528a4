"""A machine that is measured: noise, drift and outliers are planted, every draw comes from a seeded source."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from math import exp

from bisect_tool.search.metrics.comparison import Different, Finding, Magnitude, NeedMore, Same, Undecided, compare


@dataclass(frozen=True, slots=True)
class Bench:
    """Samples around 10: `noise` and `wander` are standard deviations of logarithms, of a sample and of each step.

    `drift` is the logarithm by which the level rises over 60 samples. A sample is an outlier with the chance `outliers`;
    then it is at least as large as before, by a factor of 3 in the mean.
    """

    noise: float = 0.03
    drift: float = 0.0
    wander: float = 0.0
    outliers: float = 0.0

    def run(self, rng: random.Random, ratio: float, magnitude: Magnitude) -> Finding:
        """A whole comparison of a build whose true ratio is `ratio`; every second pair begins with the reference."""
        pairs = self._pairs(rng, ratio)
        reference: list[float] = []
        build: list[float] = []
        while isinstance(found := compare(reference, build, magnitude), NeedMore):
            for before, after in islice(pairs, found.build):
                reference.append(before)
                build.append(after)
        return found

    def take(self, rng: random.Random, ratio: float, number: int) -> tuple[list[float], list[float]]:
        """`number` samples of the reference and of the build, taken in turn."""
        pairs = list(islice(self._pairs(rng, ratio), number))
        return [before for before, _ in pairs], [after for _, after in pairs]

    def _pairs(self, rng: random.Random, ratio: float) -> Iterator[tuple[float, float]]:
        level = 0.0
        for number in count():
            pair = [0.0, 0.0]
            for side in (1, 0) if number % 2 == 0 else (0, 1):
                level += rng.gauss(0, self.wander) + self.drift / 60
                pair[side] = self._sample(rng, ratio if side else 1.0, level)
            yield pair[0], pair[1]

    def _sample(self, rng: random.Random, factor: float, level: float) -> float:
        sample = 10 * factor * exp(rng.gauss(0, self.noise) + level)
        if rng.random() < self.outliers:
            sample *= 1 + rng.expovariate(0.5)
        return sample


@dataclass(frozen=True, slots=True)
class Tally:
    """Of so many comparisons: how often each word was given, and the pairs of samples that they took in the mean."""

    same: int
    different: int
    undecided: int
    pairs: float


def tally(bench: Bench, ratio: float, magnitude: Magnitude, times: int, seed: int = 1) -> Tally:
    """The words of `times` comparisons."""
    rng = random.Random(seed)
    found = [bench.run(rng, ratio, magnitude) for _ in range(times)]
    pairs = sum(one.estimate.samples for one in found if not isinstance(one, NeedMore))
    same, different, undecided = (sum(isinstance(one, word) for one in found) for word in (Same, Different, Undecided))
    return Tally(same, different, undecided, pairs / times)
