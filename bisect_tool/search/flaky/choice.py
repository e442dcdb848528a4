"""Which build to run next: the most that is said about the place of the change for each second.

What trials say is by how much they are expected to raise the odds of the true place. Entropy falls ever more slowly once one
place is likely, while odds go on growing at the same pace (Naghshvar, Javidi: Active sequential hypothesis testing).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import comb, log2
from typing import NamedTuple

from bisect_tool.search import holes
from bisect_tool.search.flaky.belief import Belief
from bisect_tool.search.knowledge import Gap
from bisect_tool.search.prior import Prior

BATCHES = (1, 2, 4, 8, 16)
GROWTH = 1.5  # a further trial may say more than the first, but hardly this much more
IGNORED = 1e-4  # gaps with less chance than this propose no build
LEAST_DOUBT = 1e-12  # odds beyond this are not worth a trial
NEW_PRICE = 8.0  # of an install, in trials, where nothing was measured


@dataclass(frozen=True, slots=True)
class Prices:
    """Seconds of a trial, and of an install: in general, and of single builds. A build that is here costs no install."""

    trial: float = 1.0
    install: float = NEW_PRICE
    installs: Mapping[int, float] = field(default_factory=dict)

    def of(self, build: int, ready: frozenset[int]) -> float:
        """What it costs to have the environment of `build`."""
        return 0.0 if build in ready else self.installs.get(build, self.install)


@dataclass(frozen=True, slots=True)
class Work:
    """Run the case `trials` times on `build`, then look again; by then the odds should have risen by `bits`."""

    build: int
    trials: int
    bits: float
    seconds: float

    @property
    def value(self) -> float:
        """Bits for each second."""
        return self.bits / self.seconds


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A build; `after` is how many gaps lie before it, `inside` the share of its own gap before it (None: judged)."""

    build: int
    gaps: int
    inside: float | None = None
    testable: float = 1.0


def choices(belief: Belief, prior: Prior, prices: Prices, ready: frozenset[int]) -> list[Work]:
    """What is worth running, best first; equal value: the older build. Batches that cannot be the best are left out."""
    works: list[Work] = []
    candidates = [*_judged(belief), *_untried(belief, prior)]
    for candidate in sorted(candidates, key=lambda one: (prices.of(one.build, ready), one.build)):
        best = max((work.value for work in works), default=0.0)
        works += _works(belief, candidate, prices.of(candidate.build, ready), prices.trial, best)
    return sorted(works, key=lambda work: (-round(work.value, 12), work.build, work.trials))


def is_closed(gap: Gap) -> bool:
    """Whether nothing inside a gap is worth a probe: its sides are neighbours, or what lies between was tried in vain."""
    return next(_sides(gap), None) is None


def _works(belief: Belief, candidate: _Candidate, install: float, trial: float, best: float) -> Iterator[Work]:
    """What a build offers. More than one trial before looking again is only of use to make up for an install."""
    groups = _groups(belief, candidate)
    single = candidate.testable * _gained(groups, 1)
    yield Work(candidate.build, 1, single, install + trial)
    for trials in BATCHES[1:] if install else ():
        seconds = install + trials * trial
        if GROWTH * trials * single > best * seconds:
            yield Work(candidate.build, trials, candidate.testable * _gained(groups, trials), seconds)


def _judged(belief: Belief) -> Iterator[_Candidate]:
    shares = belief.shares
    for number in range(len(shares) + 1):
        beside = [share.chance for share in shares[max(0, number - 1) : number + 1]]
        if max(beside) >= IGNORED:
            build = shares[number].gap.before if number < len(shares) else shares[-1].gap.after
            yield _Candidate(build, number)


def _untried(belief: Belief, prior: Prior) -> Iterator[_Candidate]:
    """In each gap the build nearest to where half of the chance lies on each side, and with a hole one on each side of it."""
    middle, passed = sum(share.chance for share in belief.shares) / 2, 0.0
    for number, share in enumerate(belief.shares):
        if share.chance >= IGNORED:
            wanted = (middle - passed) / share.chance
            for build in _proposals(share.gap, prior, wanted):
                yield _Candidate(build, number, prior.share(share.gap, build), holes.chance_testable(share.gap, build))
        passed += share.chance


def _proposals(gap: Gap, prior: Prior, wanted: float) -> list[int]:
    found: set[int] = set()
    for side in _sides(gap):
        found.add(_nearest(gap, side, prior, wanted))
        if gap.untestable:
            found.add(side[len(side) // 2])
    return sorted(found)


def _sides(gap: Gap) -> Iterator[range]:
    """The runs of untried builds of a gap that are worth a probe."""
    if not gap.untestable:
        if gap.after - gap.before > 1:
            yield range(gap.before + 1, gap.after)
        return
    for side in (range(gap.before + 1, gap.untestable[0]), range(gap.untestable[-1] + 1, gap.after)):
        if side:
            yield side
    if holes.is_worth_entering(gap):
        yield from holes.inner_runs(gap)


def _nearest(gap: Gap, side: range, prior: Prior, wanted: float) -> int:
    """The build of a side up to which the share of the gap's weight is nearest to `wanted`."""
    target = wanted * prior.weight(gap.before, gap.after)
    low, high = side[0], side[-1]
    while low < high:
        middle = (low + high) // 2
        if prior.weight(gap.before, middle) + prior.weight(gap.before, middle + 1) < 2 * target:
            low = middle + 1
        else:
            high = middle
    return low


class _Group(NamedTuple):
    """Places of the change that a candidate cannot tell apart: their chance, its rate with any of them, their number."""

    chance: float
    rate: float
    places: int


def _groups(belief: Belief, candidate: _Candidate) -> list[_Group]:
    found = [_Group(belief.no_change, belief.rate, 1)] if belief.no_change >= IGNORED else []
    rest = {True: [0.0, 0.0], False: [0.0, 0.0]}
    for number, share in enumerate(belief.shares):
        inside = candidate.inside if number == candidate.gaps else None
        newer = number < candidate.gaps  # the change came before the candidate, which has the rate after it
        if share.chance < IGNORED:
            rest[newer][0] += share.chance
            rest[newer][1] += share.chance * (share.after if newer else share.before)
        elif inside is not None:
            build, gap = candidate.build, share.gap
            found.append(_Group(share.chance * inside, share.after, build - gap.before))
            found.append(_Group(share.chance * (1 - inside), share.before, gap.after - build))
        else:
            rate = share.after if newer else share.before
            found.append(_Group(share.chance, rate, share.gap.after - share.gap.before))
    return found + [_Group(chance, weighted / chance, 1) for chance, weighted in rest.values() if chance > 0]


def _gained(groups: list[_Group], trials: int) -> float:
    """By how much `trials` trials are expected to raise the odds of the true place, in bits."""
    total = sum(group.chance for group in groups)
    now = sum(_odds(group.chance / total, group.places) for group in groups)
    rows = [_counts(group.rate, trials) for group in groups]
    then = 0.0
    for shown in range(trials + 1):
        likely = [group.chance * row[shown] / total for group, row in zip(groups, rows, strict=True)]
        mixed = sum(likely)
        if mixed > 0:
            then += mixed * sum(_odds(one / mixed, group.places) for one, group in zip(likely, groups, strict=True))
    return max(0.0, total * (then - now))


def _odds(chance: float, places: int) -> float:
    """The part of `places` places, with this chance together, in the mean of the logarithm of the odds."""
    if chance <= 0:
        return 0.0
    each = chance / places
    return chance * log2(each / max(LEAST_DOUBT, 1 - each))


def _counts(rate: float, trials: int) -> list[float]:
    if trials == 1:
        return [1 - rate, rate]
    return [comb(trials, shown) * rate**shown * (1 - rate) ** (trials - shown) for shown in range(trials + 1)]
