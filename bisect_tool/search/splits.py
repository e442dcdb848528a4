"""Where to split a gap between two judged builds, and what each build inside is worth.

A build is worth the information in its answer (one bit where as much weight lies on one side as on the other) times the
chance that it can be tested.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from math import log2

from bisect_tool.search import holes
from bisect_tool.search.knowledge import Gap
from bisect_tool.search.prior import EVENLY, Prior
from bisect_tool.search.weighted_split import best_split


def worth(gap: Gap, build: int, prior: Prior = EVENLY) -> float:
    """What probing `build`, inside `gap`, says about where the change is, in bits."""
    share = prior.share(gap, build)
    information = -share * log2(share) - (1 - share) * log2(1 - share)
    return information * holes.chance_testable(gap, build) if gap.untestable else information


def candidates(gap: Gap, *, shared: bool, prior: Prior = EVENLY, quickly: bool = False) -> Iterator[int]:
    """The best builds of a gap, a few: its split, or where it has a hole the best on each side and those inside.

    `shared`: several cases may have changes in the gap. `quickly`: with weights the middle of the weight will do.
    """
    if gap.after - gap.before < 2:
        return
    if not gap.untestable:
        yield _split(gap, prior, shared=shared, quickly=quickly)
        return
    for side in sides_of(gap):
        if side:
            yield _peak(gap, side, prior)
    if holes.is_worth_entering(gap):
        yield from (run[len(run) // 2] for run in holes.inner_runs(gap))


def cheaper(gap: Gap, groups: Sequence[Sequence[int]], best: Sequence[int]) -> Iterator[int]:
    """The nearest builds of each group of cheap ones to the `best` builds of the gap, on either side.

    As long as a group costs about the same, none further away can be worth more; in a hole, nearly none.
    """
    for group in groups:
        low, high = bisect_right(group, gap.before), bisect_left(group, gap.after)
        if low < high:
            for build in best:
                place = bisect_left(group, build, low, high)
                yield from group[max(low, place - 1) : min(high, place + 1)]


def sides_of(gap: Gap) -> tuple[range, range]:
    """The builds before and those after a hole."""
    return range(gap.before + 1, gap.untestable[0]), range(gap.untestable[-1] + 1, gap.after)


def _split(gap: Gap, prior: Prior, *, shared: bool, quickly: bool) -> int:
    if prior is not EVENLY:
        return prior.place(gap, 0.5) if quickly else best_split(gap, prior)
    return gap.before + (even_split if shared else halves)(gap.after - gap.before)


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


def _peak(gap: Gap, side: range, prior: Prior) -> int:
    """The build of one side of a hole that is worth most.

    Without weights both factors of the worth are concave along a side, so that there is one peak and the slope tells where.
    With weights it is where the slope turns first, or near it.
    """
    return _climb(side, lambda build: worth(gap, build, prior))


def _climb(side: range, height: Callable[[int], float]) -> int:
    low, high = side[0], side[-1]
    while low < high:
        middle = (low + high) // 2
        if height(middle) < height(middle + 1):
            low = middle + 1
        else:
            high = middle
    return low
