"""Where to split a gap with weights, so that the fewest probes are left on average.

Half of the weight on either side is the most information in one answer, and not always the fewest probes in all: both sides of
the change must be probed in the end, so that a heavy place inside a gap costs two probes, however heavy it is, and one when it
lies at the side. So the sides of the heaviest place are considered next to the middle of the weight, and what each would leave
is estimated: the entropy of both parts, and for a part with a place that has most of it what its sides cost beyond that.
"""

from __future__ import annotations

from math import log2

from bisect_tool.search.knowledge import Gap
from bisect_tool.search.prior import Prior


def best_split(gap: Gap, prior: Prior) -> int:
    """The build inside the gap, which must have one; of equals the one nearest to the middle of the weight, then the older."""
    middle = prior.place(gap, 0.5)
    heaviest = prior.heaviest(gap.before, gap.after)
    near = {middle - 1, middle, middle + 1, heaviest - 1, heaviest}
    inside = sorted(build for build in near if gap.before < build < gap.after)
    off = {build: abs(prior.share(gap, build) - 0.5) for build in inside}

    def left(build: int) -> float:
        return round(_left(gap.before, build, prior) + _left(build, gap.after, prior), 12)

    return min(inside, key=lambda build: (left(build), off[build], build))


def _left(before: int, after: int, prior: Prior) -> float:
    """About how many probes a part takes on average, times its weight."""
    if after - before < 2:
        return 0.0
    weight, heaviest = prior.weight(before, after), prior.heaviest(before, after)
    heavy = prior.weight(heaviest - 1, heaviest)
    sides = 2 if before + 1 < heaviest < after else 1
    beyond = heavy * (sides + log2(heavy / weight))  # its own part of the entropy is -log2(heavy / weight)
    return prior.spread(before, after) + weight * log2(weight) + max(0.0, beyond)
