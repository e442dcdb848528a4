"""Which build to run next: the most information about the place of the change for each second."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import comb, log2

from bisect_tool.search import holes
from bisect_tool.search.flaky.belief import Belief, Places
from bisect_tool.search.knowledge import Gap

BATCHES = (1, 2, 4, 8, 16)
IGNORED = 1e-4  # gaps with less chance than this propose no build
NEW_PRICE = 5.0  # of an install, in trials, where nothing was measured


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
    """Run the case `trials` times on `build`, then look again; `bits` is what that is expected to say, at `seconds`."""

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


def choices(belief: Belief, places: Places, prices: Prices, ready: frozenset[int]) -> list[Work]:
    """What is worth running, best first; equal value: the older build. Builds that cannot be the best are left out."""
    works: list[Work] = []
    candidates = [*_judged(belief), *_untried(belief, places)]
    for candidate in sorted(candidates, key=lambda one: (prices.of(one.build, ready), one.build)):
        best = max((work.value for work in works), default=0.0)
        works += _works(belief, candidate, prices.of(candidate.build, ready), prices.trial, best)
    return sorted(works, key=lambda work: (-round(work.value, 12), work.build, work.trials))


def is_closed(gap: Gap) -> bool:
    """Whether nothing inside a gap is worth a probe: its sides are neighbours, or what lies between was tried in vain."""
    return next(_sides(gap), None) is None


def _works(belief: Belief, candidate: _Candidate, install: float, trial: float, best: float) -> Iterator[Work]:
    """What a build offers. Each further trial says less, so that more than one is only of use to make up for an install."""
    rates = _rates(belief, candidate)
    single = candidate.testable * _information(rates, 1)
    if not install:
        yield Work(candidate.build, 1, single, trial)
        return
    for trials in BATCHES:
        seconds = install + trials * trial
        if trials * single > best * seconds:
            bits = single if trials == 1 else candidate.testable * _information(rates, trials)
            yield Work(candidate.build, trials, bits, seconds)


def _judged(belief: Belief) -> Iterator[_Candidate]:
    shares = belief.shares
    for number in range(len(shares) + 1):
        beside = [share.chance for share in shares[max(0, number - 1) : number + 1]]
        if max(beside) >= IGNORED:
            build = shares[number].gap.before if number < len(shares) else shares[-1].gap.after
            yield _Candidate(build, number)


def _untried(belief: Belief, places: Places) -> Iterator[_Candidate]:
    """In each gap the build nearest to where half of the chance lies on each side, and with a hole one on each side of it."""
    middle, passed = sum(share.chance for share in belief.shares) / 2, 0.0
    for number, share in enumerate(belief.shares):
        if share.chance >= IGNORED:
            wanted = (middle - passed) / share.chance
            for build in _proposals(share.gap, places, wanted):
                inside = places.mass(share.gap.before, build) / places.mass(share.gap.before, share.gap.after)
                yield _Candidate(build, number, inside, holes.chance_testable(share.gap, build))
        passed += share.chance


def _proposals(gap: Gap, places: Places, wanted: float) -> list[int]:
    found: set[int] = set()
    for side in _sides(gap):
        found.add(_nearest(gap, side, places, wanted))
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


def _nearest(gap: Gap, side: range, places: Places, wanted: float) -> int:
    """The build of a side up to which the share of the gap's weight is nearest to `wanted`."""
    target = wanted * places.mass(gap.before, gap.after)
    low, high = side[0], side[-1]
    while low < high:
        middle = (low + high) // 2
        if places.mass(gap.before, middle) + places.mass(gap.before, middle + 1) < 2 * target:
            low = middle + 1
        else:
            high = middle
    return low


def _rates(belief: Belief, candidate: _Candidate) -> list[tuple[float, float]]:
    """For each place that the change may have: its chance, and how often the failure shows on the candidate then."""
    found = [(belief.no_change, belief.rate)] if belief.no_change >= IGNORED else []
    rest = {True: [0.0, 0.0], False: [0.0, 0.0]}
    for number, share in enumerate(belief.shares):
        inside = candidate.inside if number == candidate.gaps else None
        newer = number < candidate.gaps  # the change came before the candidate, which has the rate after it
        if share.chance < IGNORED:
            rest[newer][0] += share.chance
            rest[newer][1] += share.chance * (share.after if newer else share.before)
        elif inside is not None:
            found += [(share.chance * inside, share.after), (share.chance * (1 - inside), share.before)]
        else:
            found.append((share.chance, share.after if newer else share.before))
    return found + [(chance, weighted / chance) for chance, weighted in rest.values() if chance > 0]


def _information(rates: list[tuple[float, float]], trials: int) -> float:
    """What `trials` trials say about which of the places is true, in bits."""
    if trials == 1:
        total = sum(chance for chance, _ in rates)
        mean = sum(chance * rate for chance, rate in rates) / total
        return max(0.0, total * _entropy(mean) - sum(chance * _entropy(rate) for chance, rate in rates))
    rows = [(chance, _counts(round(rate, 6), trials)) for chance, rate in rates]
    bits = 0.0
    for shown in range(trials + 1):
        likely = [(chance * row[shown], row[shown]) for chance, row in rows if chance * row[shown] > 0]
        mixed = sum(both for both, _ in likely)
        bits += sum(both * log2(alone) for both, alone in likely)
        if mixed > 0:
            bits -= mixed * log2(mixed / sum(chance for chance, _ in rates))
    return max(0.0, bits)


def _entropy(rate: float) -> float:
    if not 0 < rate < 1:
        return 0.0
    return -rate * log2(rate) - (1 - rate) * log2(1 - rate)


def _counts(rate: float, trials: int) -> list[float]:
    return [comb(trials, shown) * rate**shown * (1 - rate) ** (trials - shown) for shown in range(trials + 1)]
