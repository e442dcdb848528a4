"""From what is known of one flaky failure to what to run next, or to the verdict.

1. Both ends of the range are run in turn until it is clear whether the failure shows at different rates (`difference`).
   If not, the verdict is "no reliable change", and no other build is installed.
2. One change of rate is presumed between the ends, and believed in where the trials put it (`belief`). The next build is
   the one that says most about it for each second (`choice`).
3. Once a place has the confidence that is asked for, it is the verdict. Weights of a history take part in 2, never in 3.
   Where an end has no more to say before 1 is clear, or no build has before there is a place, it ends without a name.
4. On both sides of a place that was found, and inside a range whose ends are alike, the trials so far are asked whether
   they hint at a further change. If they do, that part is studied in the same way, with a test of its own: a hint never
   makes a name. Without a hint one change of rate is presumed.

Half of the doubt that is left by the confidence is spent on 1, half on 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from bisect_tool.search.flaky.belief import NO_CHANGE, Belief, Share, believe
from bisect_tool.search.flaky.choice import Prices, Work, choices, is_closed
from bisect_tool.search.flaky.difference import Comparison, Finding, compare
from bisect_tool.search.flaky.evidence import Evidence
from bisect_tool.search.flaky.interval import Rate, rate_of
from bisect_tool.search.flaky.rates import alike, sides
from bisect_tool.search.flaky.verdict import Found, NoReliableChange, NotConverged, Verdict
from bisect_tool.search.prior import EVENLY, prior_from


@dataclass(frozen=True, slots=True)
class Terms:
    """`confidence` of a named change; `most_trials` for one change; what trials and installs cost."""

    confidence: float = 0.99
    most_trials: int = 1000
    prices: Prices = field(default_factory=Prices)

    @property
    def doubt(self) -> float:
        """The chance that an answer may be wrong."""
        return 1 - self.confidence

    @property
    def place(self) -> float:
        """The chance that a place must have to be named."""
        return 1 - self.doubt / 2


@dataclass(frozen=True, slots=True)
class Study:
    """Either a `verdict`, or `works`: what to run next, best first. `belief` is None until the ends were told apart."""

    low: int
    high: int
    works: tuple[Work, ...]
    verdict: Verdict | None
    ends: Comparison
    belief: Belief | None = None


def study(evidence: Evidence, terms: Terms, low: int, high: int) -> Study:
    """Study one change of rate between the builds `low` and `high`, neither of which may be known to be untestable."""
    ends = compare(evidence.trials.get(low, ()), evidence.trials.get(high, ()), terms.doubt)
    trials = evidence.total(evidence.judged(low, high)).trials
    match ends.finding:
        case Finding.ALIKE:
            sides = (rate_of(evidence.tally(low)), rate_of(evidence.tally(high)))
            return Study(low, high, (), NoReliableChange(low, high, *sides, ends.strength), ends)
        case Finding.OPEN if trials >= terms.most_trials or evidence.silent & {low, high}:
            rates = (rate_of(evidence.tally(low)), rate_of(evidence.tally(high)))
            return Study(low, high, (), NotConverged(low, high, 0.0, *rates, is_settled=False), ends)
        case Finding.OPEN:
            return Study(low, high, _ends(evidence, terms.prices, low, high), None, ends)
        case Finding.DIFFERENT:
            return _place(evidence, terms, low, high, ends, trials)


def _ends(evidence: Evidence, prices: Prices, low: int, high: int) -> tuple[Work, ...]:
    """The end with fewer trials first, so that they are compared pair by pair; the newer one of two equals."""
    ran = {build: evidence.tally(build).trials for build in (high, low)}
    order = sorted(ran, key=lambda build: ran[build])
    works = [Work(build, 1, 1.0, prices.of(build, evidence.ready) + prices.trial) for build in order]
    return tuple(works[: 1 if ran[low] != ran[high] else 2])


def _place(evidence: Evidence, terms: Terms, low: int, high: int, ends: Comparison, trials: int) -> Study:
    belief = believe(evidence, low, high)
    best = belief.best
    if best.chance >= terms.place and is_closed(best.gap):
        return Study(low, high, (), _found(evidence, best, low, high), ends, belief)
    works = _works(evidence, terms, belief, low, high)
    if trials < terms.most_trials and works:
        return Study(low, high, tuple(works), None, ends, belief)
    before, after = belief.range_with(terms.place)
    rates = _sides(evidence, best, low, high)
    verdict = NotConverged(before, after, best.chance, *rates, is_settled=True)
    return Study(low, high, (), verdict, ends, belief)


def _works(evidence: Evidence, terms: Terms, belief: Belief, low: int, high: int) -> list[Work]:
    """What to run next. Weights of a history lead there, as long as they do not take the place for known already."""
    prior = prior_from(evidence.weights)
    if prior is not EVENLY:
        led = believe(evidence, low, high, prior)
        if led.best.chance < terms.place or not is_closed(led.best.gap):
            return _worth_it(choices(led, prior, terms.prices, evidence.ready), evidence)
    return _worth_it(choices(belief, EVENLY, terms.prices, evidence.ready), evidence)


def _worth_it(works: list[Work], evidence: Evidence) -> list[Work]:
    return [work for work in works if work.build not in evidence.silent]


def _found(evidence: Evidence, best: Share, low: int, high: int) -> Found:
    gap = best.gap
    holes = tuple(range(gap.before + 1, gap.after))
    return Found(gap.before, gap.after, best.chance, *_sides(evidence, best, low, high), holes=holes)


def _sides(evidence: Evidence, best: Share, low: int, high: int) -> tuple[Rate, Rate]:
    judged = evidence.judged(low, high)
    older = [build for build in judged if build <= best.gap.before]
    newer = [build for build in judged if build >= best.gap.after]
    return rate_of(evidence.total(older)), rate_of(evidence.total(newer))


def examine(evidence: Evidence, terms: Terms) -> tuple[Study, ...]:
    """Every study of one failure, oldest first: of the whole range, or of its parts where it changes more than once.

    Empty as long as fewer than two builds have trials.
    """
    judged = evidence.judged(0, evidence.size - 1)
    return tuple(_examine(evidence, terms, judged[0], judged[-1])) if len(judged) > 1 else ()


def _examine(evidence: Evidence, terms: Terms, low: int, high: int) -> Iterator[Study]:
    whole = study(evidence, terms, low, high)
    match whole.verdict:
        case Found(before, after):
            if _hints(evidence, low, before):
                yield from _examine(evidence, terms, low, before)
            yield whole
            if _hints(evidence, after, high):
                yield from _examine(evidence, terms, after, high)
        case NoReliableChange() if (odd := _odd_one(evidence, low, high)) is not None:
            yield from _examine(evidence, terms, low, odd)
            yield from _examine(evidence, terms, odd, high)
        case _:
            yield whole


def _hints(evidence: Evidence, low: int, high: int) -> bool:
    """Whether the trials so far are better explained by a change between two builds than by one rate."""
    return len(evidence.judged(low, high)) > 1 and believe(evidence, low, high).no_change < NO_CHANGE


def _odd_one(evidence: Evidence, low: int, high: int) -> int | None:
    """The build inside a range that is best explained by a rate of its own, unlike that of all others; None for none."""
    judged = evidence.judged(low, high)
    total = evidence.total(judged)
    alone, _ = alike(total)
    odds = {build: sides(evidence.tally(build), total - evidence.tally(build)).log_chance for build in judged[1:-1]}
    best = max(odds, key=lambda build: (odds[build], -build), default=None)
    return best if best is not None and odds[best] > alone else None
