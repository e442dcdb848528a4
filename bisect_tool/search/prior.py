"""How likely a change lies at each place, before anything is probed: everywhere alike, or by the weights of a history.

A quarter of the weight is spread evenly, so that weights that mislead cost about one probe more.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from bisect_tool.search.knowledge import Gap, Question

EVEN = 0.25  # the part of the weight that is spread evenly: log2(1 / EVEN) probes are the most that weights can cost in vain


@dataclass(frozen=True, slots=True)
class Prior:
    """`below[b]` is the weight of all places up to that between build b - 1 and build b; None: every place has weight 1."""

    below: tuple[float, ...] | None = None

    def weight(self, before: int, after: int) -> float:
        """The weight of the places between two builds."""
        return after - before if self.below is None else self.below[after] - self.below[before]

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


@lru_cache(maxsize=64)
def _weighted(weights: tuple[float, ...]) -> Prior:
    total = sum(weights[1:])
    if not 0 <= total < float("inf") or min(weights, default=0.0) < 0:
        raise ValueError("weights of a history must be finite and not negative")
    if total == 0 or len(weights) < 2:
        return EVENLY
    even = EVEN / (len(weights) - 1)
    places = (even + (1 - EVEN) * weight / total for weight in weights[1:])
    return Prior((0.0, *accumulate(places)))
