"""What a stretch of untestable builds says about its neighbours, and when a hole has been looked at enough.

Untestable builds come in stretches (a broken week, an old Python, a driver that is too old), of any length: nothing is
known about their scale. So the chance that a build is testable is taken to be d / (d + w), for a build at distance d from
a hole that is known to be w builds wide. Around a wide hole the next probe then lies about one width away, which finds
the far side in a logarithmic number of probes, and a single dead build costs one step aside.
"""

from __future__ import annotations

from math import log2

from bisect_tool.search.knowledge import Gap

SMALL = 3  # so few untried builds inside a hole are tried one by one: a complete list is worth more than the saving


def chance_testable(gap: Gap, build: int) -> float:
    """The chance, 0 to 1, that an untried `build` inside `gap` can be tested."""
    if not gap.untestable:
        return 1.0
    low, high = gap.untestable[0], gap.untestable[-1]
    width = high - low + 1
    if build < low:
        distance = low - build
    elif build > high:
        distance = build - high
    else:
        # Both neighbours failed, so the build most likely shares their fate; half the chance of one outside.
        distance = min(abs(build - other) for other in gap.untestable)
        return distance / (distance + width) / 2
    return distance / (distance + width)


def worth_entering(gap: Gap) -> bool:
    """Whether untried builds between untestable ones are still to be tried.

    All of a few; of many, a number of probes that grows with the logarithm of the width.
    """
    if not gap.untestable:
        return True
    width = gap.untestable[-1] - gap.untestable[0] + 1
    inside = width - len(gap.untestable)
    return inside <= SMALL or len(gap.untestable) < 3 + log2(width)


def candidates(gap: Gap) -> list[int]:
    """The untried builds of a gap that are worth a probe."""
    tried = set(gap.untestable)
    untried = [build for build in range(gap.before + 1, gap.after) if build not in tried]
    if not gap.untestable or worth_entering(gap):
        return untried
    return [build for build in untried if not gap.untestable[0] < build < gap.untestable[-1]]
