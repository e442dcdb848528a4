"""How likely a change lies at each place, before anything is probed: everywhere alike, or by the weights of a history.

A quarter of the weight is spread evenly, so that weights that mislead cost about one probe more.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import log2

from bisect_tool.search.knowledge import Gap, Question

EVEN = 0.25  # the part of the weight that is spread evenly: log2(1 / EVEN) probes are the most that weights can cost in vain

BLOCK = 64  # so that the heaviest place of a gap is found without a look at all of them


@dataclass(frozen=True, slots=True)
class Prior:
    """`below[b]` is the weight of all places up to that between build b - 1 and build b; None: every place has weight 1.

    With weights `own[b]` is that of the place before build b, `logs[b]` the sum of -w log2 w of the places up to it, and
    `peaks` the build with the heaviest place of each `BLOCK` builds.
    """

    below: tuple[float, ...] | None = None
    own: tuple[float, ...] = ()
    logs: tuple[float, ...] = ()
    peaks: tuple[int, ...] = ()

    def weight(self, before: int, after: int) -> float:
        """The weight of the places between two builds."""
        return after - before if self.below is None else self.below[after] - self.below[before]

    def heaviest(self, before: int, after: int) -> int:
        """The build after the heaviest place between two builds, the oldest of equals; only with weights."""
        first, last = before + 1, after + 1
        low, high = -(-first // BLOCK), last // BLOCK
        if low >= high:
            builds: Iterable[int] = range(first, last)
        else:
            builds = (*range(first, low * BLOCK), *self.peaks[low:high], *range(high * BLOCK, last))
        return max(builds, key=self.own.__getitem__)

    def spread(self, before: int, after: int) -> float:
        """The sum of -w log2 w over the places between two builds; only with weights."""
        return self.logs[after] - self.logs[before]

    def share(self, gap: Gap, build: int) -> float:
        """The part, 0 to 1, of the gap's weight that lies between its older side and `build`."""
        return self.weight(gap.before, build) / self.weight(gap.before, gap.after)

    def place(self, gap: Gap, share: float) -> int:
        """The build inside the gap, which must have one, that has nearest to `share` of the weight on its older side."""
        if self.below is None:
            return min(gap.after - 1, max(gap.before + 1, gap.before + int(share * (gap.after - gap.before))))
        wanted = self.below[gap.before] + share * self.weight(gap.before, gap.after)
        above = bisect_left(self.below, wanted, gap.before + 1, gap.after - 1)
        near = (max(gap.before + 1, above - 1), above)
        below = self.below
        return min(near, key=lambda build: abs(below[build] - wanted))


EVENLY = Prior()


def prior_of(question: Question) -> Prior:
    """The prior of a question. Raises `ValueError` for weights that are not finite numbers, 0 or more."""
    return prior_from(question.weights)


def prior_from(weights: tuple[float, ...] | None) -> Prior:
    """The prior of weights, one for each build. Raises `ValueError` for those that are not finite numbers, 0 or more."""
    return EVENLY if weights is None else _weighted(weights)


@lru_cache(maxsize=256)  # questions with weights of their own; a megabyte each with 10,000 builds
def _weighted(weights: tuple[float, ...]) -> Prior:
    total = sum(weights[1:])
    if not 0 <= total < float("inf") or min(weights, default=0.0) < 0:
        raise ValueError("weights of a history must be finite and not negative")
    if total == 0 or len(weights) < 2:
        return EVENLY
    even = EVEN / (len(weights) - 1)
    places = [even + (1 - EVEN) * weight / total for weight in weights[1:]]
    logs = accumulate((-place * log2(place) for place in places), initial=0.0)
    own = (0.0, *places)
    starts = range(0, len(own), BLOCK)
    peaks = (max(range(start, min(start + BLOCK, len(own))), key=own.__getitem__) for start in starts)
    return Prior(tuple(accumulate(places, initial=0.0)), own, tuple(logs), tuple(peaks))
