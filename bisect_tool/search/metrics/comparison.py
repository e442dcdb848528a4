"""Is a build's number so many times that of the reference build? Same, different, or more samples are needed.

A comparison asks about a *magnitude*, a ratio such as 1.1 (at least 1.1 times the reference) or 0.9 (at most 0.9 times).
All is said of logarithms, so that ratios become differences, and with the sign turned so that the magnitude is positive.

The interval for the ratio holds every value that neither of two tests rejects at the chance of the look: Mann-Whitney,
whose ends are order statistics of all ratios of one sample of the build to one of the reference, and Wilcoxon for pairs,
whose ends are order statistics of the means of any two pairs' ratios (Hodges and Lehmann 1963). They assume no
distribution, only that both sides differ by a factor; outliers move them little. Then

- *different* when the interval lies beyond the geometric middle of 1 and the magnitude, and the ratio of the medians
  reaches the magnitude;
- *same* when the interval does not reach the magnitude, and the ratio of the medians neither: also when the two are
  surely not equal, but by less than was asked for;
- else more samples are needed, up to the most that may be taken; then it is undecided, which is no verdict.

So a build whose true ratio is the magnitude or more is called the same with a chance of at most `looks.DOUBT`, and one
that is nearer to the reference than to the magnitude is called different with at most that chance, over all looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import exp, log
from statistics import median

from bisect_tool.search.metrics.looks import Look, looks

ROUNDING = 1e-9  # of a logarithm: 110 is 1.1 times 100 also in floating point


@dataclass(frozen=True, slots=True)
class Magnitude:
    """What a comparison asks, and what it may cost.

    `ratio` is positive and not 1: above 1 more is different, below 1 less. `least` and `most` bound the samples that are
    looked at on each side, 6 <= `least` <= `most`; `warm_up` samples on each side are taken before and left out.
    """

    ratio: float
    least: int = 6
    most: int = 30
    warm_up: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """The ratio of the build's median to that of the reference, its interval, the medians, the samples on each side.

    The interval from `low` to `high` is valid however often one has looked: all intervals of a comparison together miss
    the true ratio with a chance of at most 1 %. A sample without spread has one of no width.
    """

    ratio: float
    low: float
    high: float
    reference: float
    build: float
    samples: int


@dataclass(frozen=True, slots=True)
class Same:
    """The ratio is less than the magnitude."""

    estimate: Estimate


@dataclass(frozen=True, slots=True)
class Different:
    """The ratio is the magnitude or more."""

    estimate: Estimate


@dataclass(frozen=True, slots=True)
class NeedMore:
    """So many more samples of the reference and of the build until the next look; nothing is said before."""

    reference: int
    build: int


@dataclass(frozen=True, slots=True)
class Undecided:
    """The most samples were taken, and they spread too much for this magnitude."""

    estimate: Estimate


Finding = Same | Different | NeedMore | Undecided


def compare(reference: Sequence[float], build: Sequence[float], magnitude: Magnitude) -> Finding:
    """What the samples say at the first look that decides; sample i of the build was taken next to sample i of the reference.

    All are positive. Samples beyond that look change nothing, so that the same samples always give the same finding.

    Raises:
        ValueError: a sample is not positive, or `magnitude` allows too few samples to decide anything.
    """
    before, after = reference[magnitude.warm_up :], build[magnitude.warm_up :]
    estimate: Estimate | None = None
    for look in looks(magnitude.least, magnitude.most):
        missing = (look.size - len(before), look.size - len(after))
        if max(missing) > 0:
            return _more(magnitude, look, len(reference), len(build))
        if look.between < 0:
            continue
        estimate = _estimate(before[: look.size], after[: look.size], look)
        found = _decision(estimate, magnitude)
        if found is not None:
            return found
    if estimate is None:
        raise ValueError(f"{magnitude.most} samples a side can never decide")
    return Undecided(estimate)


def _more(magnitude: Magnitude, look: Look, reference: int, build: int) -> NeedMore:
    wanted = magnitude.warm_up + look.size
    return NeedMore(max(0, wanted - reference), max(0, wanted - build))


def _estimate(reference: Sequence[float], build: Sequence[float], look: Look) -> Estimate:
    before, after = [log(one) for one in reference], [log(one) for one in build]
    low, high = _interval(sorted(new - old for old in before for new in after), look.between)
    if look.paired >= 0:
        lower, upper = _interval(_means([new - old for old, new in zip(before, after, strict=True)]), look.paired)
        low, high = max(low, lower), min(high, upper)
    medians = median(reference), median(build)
    return Estimate(
        ratio=medians[1] / medians[0],
        # Where the two tests contradict each other, what lies between them is in doubt.
        low=exp(min(low, high)),
        high=exp(max(low, high)),
        reference=medians[0],
        build=medians[1],
        samples=look.size,
    )


def _interval(ordered: Sequence[float], critical: int) -> tuple[float, float]:
    return ordered[critical], ordered[-1 - critical]


def _means(differences: Sequence[float]) -> list[float]:
    """The means of any two differences, also of one with itself, in order."""
    return sorted((one + other) / 2 for one, other in combinations_with_replacement(differences, 2))


def _decision(estimate: Estimate, magnitude: Magnitude) -> Same | Different | None:
    """The word of one look, None when it has none."""
    asked = abs(log(magnitude.ratio))
    ratio, ends = log(estimate.ratio), (log(estimate.low), log(estimate.high))
    if magnitude.ratio < 1:
        ratio, ends = -ratio, (-ends[1], -ends[0])
    reaches = ratio >= asked - ROUNDING
    if reaches and ends[0] > asked / 2:
        return Different(estimate)
    if not reaches and ends[1] < asked - ROUNDING:
        return Same(estimate)
    return None
