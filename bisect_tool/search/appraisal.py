"""What builds are worth to all cases of a question together, and for which price."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from bisect_tool.search import holes, splits
from bisect_tool.search.knowledge import Gap, Known, Question
from bisect_tool.search.prices import LEAST
from bisect_tool.search.prior import EVENLY, Prior, prior_of
from bisect_tool.search.wants import Wants
from bisect_tool.search.wishes import Purpose, Wish

APPRAISALS = 4000  # of a build for a gap, in one decision; beyond that only the most promising builds are looked at
MOST_PROMISING = 12  # builds that are looked at in any case
SHORTLIST = 40  # probes in a plan
MANY_GAPS = 64  # beyond this their splits are looked for quickly, for the time of a decision


@dataclass(frozen=True, slots=True)
class Probe:
    """Run `cases` (controls first) on `build`, for the sake of `purpose`; `value` is what it is worth for its price.

    `worth` in bits, `price` in seconds. `trials` says how many trials of each of `cases` are foreseen: one that disagrees
    may end them early.
    """

    build: int
    cases: tuple[str, ...]
    purpose: Purpose
    worth: float
    price: float = 1.0
    trials: tuple[int, ...] = ()

    @property
    def value(self) -> float:
        """Bits a second: what probes are compared by, also those of several questions."""
        return self.worth / self.price


@dataclass(frozen=True, slots=True)
class Group:
    """The cases that want the same gap to be split."""

    gap: Gap
    purpose: Purpose
    weight: float
    cases: tuple[str, ...]

    @property
    def total(self) -> float:
        """What a bit about the gap is worth to all of them."""
        return self.weight * len(self.cases)

    def leaning(self, prior: Prior) -> Prior:
        """Where a change is likely in this gap."""
        return leaning_of(self.purpose, prior)


def leaning_of(purpose: Purpose, prior: Prior) -> Prior:
    """Weights are about the failure that the ends show. One that may have come and gone is looked for evenly."""
    return EVENLY if purpose is Purpose.SCAN else prior


def grouped(wants: Wants) -> list[Group]:
    """The splits, those of the same gap together."""
    found: dict[tuple[Gap, Purpose, float], list[str]] = defaultdict(list)
    for split in wants.splits:
        found[split.gap, split.purpose, split.weight].append(split.case)
    return [Group(gap, purpose, weight, tuple(cases)) for (gap, purpose, weight), cases in found.items()]


def is_shared(groups: Sequence[Group]) -> bool:
    """Whether several cases want splits."""
    return any(group.cases != groups[0].cases or len(group.cases) > 1 for group in groups)


def candidates(known: Known, groups: Sequence[Group], prior: Prior, *, shared: bool) -> set[int]:
    """The few best builds of every gap, and the cheap builds nearest to them.

    `shared`: several changes may lie in a gap (see `splits.candidates`).
    """
    cheap, quickly = known.prices.classes(known.ready), len(groups) > MANY_GAPS
    found: set[int] = set()
    for group in groups:
        best = tuple(splits.candidates(group.gap, shared=shared, prior=group.leaning(prior), quickly=quickly))
        found.update(best, splits.cheaper(group.gap, cheap, best))
    return found


def appraise(question: Question, known: Known, wants: Wants, builds: Iterable[int]) -> list[Probe]:
    """The probes of `builds`, those that somebody wants, best first; of equals the older build comes first.

    So the same knowledge always gives the same order. Of very many builds only the `SHORTLIST` best are given.
    """
    prior, groups = prior_of(question), grouped(wants)
    wished: dict[int, list[Wish]] = {build: [] for build in builds}
    for wish in wants.wishes:
        if wish.build in wished:
            wished[wish.build].append(wish)
    offered = _promising(known, sorted(wished), groups, prior, keep={wish.build for wish in wants.wishes})
    shares = {build: list[tuple[Group, float]]() for build in offered}
    for group in groups:
        for build in offered[bisect_right(offered, group.gap.before) : bisect_left(offered, group.gap.after)]:
            if holes.is_open(group.gap, build):
                shares[build].append((group, group.weight * splits.worth(group.gap, build, group.leaning(prior))))
    order = {case: number for number, case in enumerate(question.tests)}
    probes = [
        _probe(question, known, build, [*wished[build], *_wishes_of(build, shares[build])], order)
        for build in _shortlist(known, wished, shares)
    ]
    return sorted(probes, key=lambda probe: (-probe.value, probe.build))


def _wishes_of(build: int, shares: Iterable[tuple[Group, float]]) -> Iterator[Wish]:
    return (Wish(case, build, worth, group.purpose) for group, worth in shares for case in group.cases)


def _shortlist(
    known: Known, wished: Mapping[int, Sequence[Wish]], shares: Mapping[int, Sequence[tuple[Group, float]]]
) -> list[int]:
    """The builds that are wanted: of many, those of most worth for the price of a single trial."""
    wanted = [build for build in shares if wished[build] or shares[build]]
    if len(wanted) <= SHORTLIST:
        return wanted

    def value(build: int) -> float:
        worth = sum(wish.worth for wish in wished[build])
        worth += sum(share * len(group.cases) for group, share in shares[build])
        return worth / _price_of_one(known, build)

    return sorted(wanted, key=lambda build: (-value(build), build))[:SHORTLIST]


def _price_of_one(known: Known, build: int) -> float:
    """Seconds of a probe of one case, roughly: what builds are sorted by before any is looked at in detail."""
    run = known.prices.run((name, 1) for name in list(known.prices.trials)[:1])
    return max(LEAST, run + (0.0 if build in known.ready else known.prices.making(build)))


def _promising(known: Known, offered: list[int], groups: Sequence[Group], prior: Prior, keep: set[int]) -> list[int]:
    """The builds that are worth an exact look, where there are too many for the time of a decision.

    The information of a split is about 4 s (1 - s) for a share s. Summed over many gaps that is a polynomial between any
    two sides of gaps, so that one pass over builds and sides ranks all builds.
    """
    looks = sum(bisect_left(offered, group.gap.after) - bisect_right(offered, group.gap.before) for group in groups)
    if looks <= APPRAISALS:
        return offered
    room = max(MOST_PROMISING, APPRAISALS // len(groups))
    rough = dict.fromkeys(offered, 0.0)
    for leaning in (prior,) if prior is EVENLY else (prior, EVENLY):
        own = [group for group in groups if group.leaning(prior) is leaning]
        for build, worth in _rough_worth(offered, own, leaning).items():
            rough[build] += worth
    best = sorted(offered, key=lambda build: (-rough[build] / _price_of_one(known, build), build))[:room]
    return sorted({*best, *keep.intersection(offered)})


def _rough_worth(offered: Sequence[int], groups: Sequence[Group], prior: Prior) -> dict[int, float]:
    turns: dict[int, tuple[float, float, float]] = defaultdict(lambda: (0.0, 0.0, 0.0))
    for group in groups:
        low, high = prior.weight(0, group.gap.before), prior.weight(0, group.gap.after)
        scale = 4 * group.total / (high - low) ** 2
        terms = (-scale, scale * (low + high), -scale * low * high)
        for side, sign in ((group.gap.before, 1), (group.gap.after, -1)):
            turns[side] = _plus(turns[side], terms, sign)
    sides = sorted(turns)
    sums = list(accumulate((turns[side] for side in sides), _plus))
    rough: dict[int, float] = {}
    for build in offered:
        place = bisect_right(sides, build) - 1
        square, line, constant = sums[place] if place >= 0 else (0.0, 0.0, 0.0)
        at = prior.weight(0, build)
        rough[build] = square * at * at + line * at + constant
    return rough


def _plus(
    one: tuple[float, float, float], other: tuple[float, float, float], sign: int = 1
) -> tuple[float, float, float]:
    return one[0] + sign * other[0], one[1] + sign * other[1], one[2] + sign * other[2]


def _probe(question: Question, known: Known, build: int, wishes: Sequence[Wish], order: Mapping[str, int]) -> Probe:
    controls = [(name, 1) for name in question.controls if not known.results.get((name, build))]
    making = 0.0 if build in known.ready else known.prices.making(build)
    paid = _worth_paying(known, wishes, making + (known.prices.run(controls) if known.prices.trials else 0.0))
    trials: dict[str, int] = {}
    for wish in paid:
        trials[wish.case] = max(wish.trials, trials.get(wish.case, 0))
    runs = [*controls, *((name, trials[name]) for name in sorted(trials, key=order.__getitem__))]
    price = max(LEAST, making + known.prices.run(runs))
    purpose = max(paid, key=lambda wish: wish.worth).purpose
    cases, counts = tuple(name for name, _ in runs), tuple(count for _, count in runs)
    return Probe(build, cases, purpose, sum(wish.worth for wish in paid), price, counts)


def _worth_paying(known: Known, wishes: Sequence[Wish], fixed: float) -> Sequence[Wish]:
    """Those wishes that make the probe better for its price: a case that learns next to nothing here costs more than that."""
    if not known.prices.trials or len(wishes) < 2:
        return wishes
    seconds = {wish.case: max(LEAST, known.prices.run([(wish.case, wish.trials)])) for wish in wishes}
    ranked = sorted(wishes, key=lambda wish: -wish.worth / seconds[wish.case])
    worth, price = 0.0, fixed
    for count, wish in enumerate(ranked):
        if count and wish.worth * price < worth * seconds[wish.case]:
            return ranked[:count]
        worth, price = worth + wish.worth, price + seconds[wish.case]
    return ranked


def running_of(running: Iterable[Probe]) -> Mapping[str, list[int]]:
    """The builds on which each case runs now, oldest first."""
    found: dict[str, list[int]] = defaultdict(list)
    for probe in running:
        for case in probe.cases:
            found[case].append(probe.build)
    return {case: sorted(builds) for case, builds in found.items()}


def parts_of(gap: Gap, builds: Sequence[int]) -> Iterator[Gap]:
    """The gap, cut at those of `builds` that lie inside."""
    cuts = builds[bisect_right(builds, gap.before) : bisect_left(builds, gap.after)]
    edges = [gap.before, *cuts, gap.after]
    for before, after in pairwise(edges):
        if after - before > 1:
            yield gap.within(before, after)
