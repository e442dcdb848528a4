"""What a stretch of untestable builds says about its neighbours, and when a hole has been looked at enough.

Untestable builds come in stretches (a broken week, an old Python, a driver that is too old), and nothing is known about
their scale. So a hole that is known to be w builds wide is taken to end within d more builds with the chance
d / (d + 2 w): as likely as not it is three times as wide. A judged build D builds away bounds it, so that this is divided
by the chance that it ends within D. Around a hole the next probe then lies about two widths away, which finds the far
side in a logarithmic number of probes; near a judged build it halves.
"""

from __future__ import annotations

from itertools import pairwise
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
        return _ends_within(low - build, width) / _ends_within(low - gap.before, width)
    if build > high:
        return _ends_within(build - high, width) / _ends_within(gap.after - high, width)
    # Between two untestable builds it most likely shares their fate: half the chance of one at that distance outside.
    distance = min(abs(build - other) for other in gap.untestable)
    return distance / (distance + width) / 2


def _ends_within(distance: int, width: int) -> float:
    return distance / (distance + 2 * width)


def inner_runs(gap: Gap) -> list[range]:
    """The runs of untried builds between untestable ones."""
    runs = (range(left + 1, right) for left, right in pairwise(gap.untestable))
    return [run for run in runs if run]


def is_worth_entering(gap: Gap) -> bool:
    """Whether untried builds between untestable ones are still to be tried.

    All of a few; of many, until a number of untestable builds that grows with the logarithm of the width is known.
    """
    if not gap.untestable:
        return True
    width = gap.untestable[-1] - gap.untestable[0] + 1
    return len(gap.untestable) < 1.5 + log2(width) or sum(map(len, inner_runs(gap))) <= SMALL


def is_open(gap: Gap, build: int) -> bool:
    """Whether `build`, inside the gap, is untried and worth a probe."""
    if build in gap.untestable:
        return False
    outside = not gap.untestable or not gap.untestable[0] < build < gap.untestable[-1]
    return outside or is_worth_entering(gap)
