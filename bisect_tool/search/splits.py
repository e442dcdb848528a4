"""Where to split a gap between two judged builds, and what each build inside is worth.

A build is worth the information in its answer (one bit in the middle) times the chance that it can be tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

from bisect_tool.search import holes
from bisect_tool.search.knowledge import Gap


def worth(gap: Gap, build: int) -> float:
    """What probing `build`, inside `gap`, says about where the change is, in bits."""
    share = (build - gap.before) / (gap.after - gap.before)
    information = -share * log2(share) - (1 - share) * log2(1 - share)
    return information * holes.chance_testable(gap, build)


def candidates(gap: Gap, *, shared: bool) -> Iterator[int]:
    """The best builds of a gap, a few: its split, or where it has a hole the best on each side and those inside.

    `shared`: several cases may have changes in the gap.
    """
    if gap.after - gap.before < 2:
        return
    if not gap.untestable:
        yield gap.before + (even_split if shared else halves)(gap.after - gap.before)
        return
    for side in (range(gap.before + 1, gap.untestable[0]), range(gap.untestable[-1] + 1, gap.after)):
        if side:
            yield _peak(gap, side)
    if holes.is_worth_entering(gap):
        yield from (run[len(run) // 2] for run in holes.inner_runs(gap))


def halves(width: int) -> int:
    """The middle."""
    return width // 2


def even_split(width: int) -> int:
    """The split of a gap of `width` places of a change that takes the fewest probes when several changes lie in it.

    For one change, every split is equally cheap that leaves both parts with at most the next lower power of two. For
    several, builds serve more of them when one part is a power of two: its parts can be halved to the end.
    """
    power = 1 << (width.bit_length() - 1)
    if power == width:
        return width // 2
    return power // 2 if width - power // 2 <= power else power


def _peak(gap: Gap, side: range) -> int:
    """The build of one side of a hole that is worth most.

    Both factors of the worth are concave along a side, so that there is one peak and the slope tells where.
    """
    low, high = side[0], side[-1]
    while low < high:
        middle = (low + high) // 2
        if worth(gap, middle) < worth(gap, middle + 1):
            low = middle + 1
        else:
            high = middle
    return low
