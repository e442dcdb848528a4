"""A machine that is measured: noise, drift and outliers are planted, every draw comes from a seeded source."""

from __future__ import annotations

import random
from dataclasses import dataclass
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

    def run(self, rng: random.Random, ratio: float, magnitude: Magnitude, *, in_turn: bool = True) -> Finding:
        """A whole comparison of a build whose true ratio is `ratio`; `in_turn`: every second pair begins with the build."""
        reference: list[float] = []
        build: list[float] = []
        level = 0.0
        while isinstance(found := compare(reference, build, magnitude), NeedMore):
            for _ in range(found.build):
                sides = [(reference, 1.0), (build, ratio)]
                if in_turn and len(build) % 2:
                    sides.reverse()
                for samples, factor in sides:
                    level += rng.gauss(0, self.wander) + self.drift / 60
                    samples.append(self._sample(rng, factor, level))
        return found

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


def tally(bench: Bench, ratio: float, magnitude: Magnitude, count: int, seed: int = 1) -> Tally:
    """The words of `count` comparisons."""
    rng = random.Random(seed)
    found = [bench.run(rng, ratio, magnitude) for _ in range(count)]
    pairs = sum(one.estimate.samples for one in found if not isinstance(one, NeedMore))
    same, different, undecided = (sum(isinstance(one, word) for one in found) for word in (Same, Different, Undecided))
    return Tally(same, different, undecided, pairs / count)
