"""How few trials are enough for a search that is told what no tool can know: the rates.

Three figures for each pair of rates, to see how much a search that knows neither of them could still save:

- **floor**: what no search can go below. A trial says at most C nats about anything, the capacity of the channel from "before
  or after the change" to the outcome. The ends alone must tell "changed" from "the same", for any shared rate: with the
  chances `RIGHT` and `ALARM` of saying so that takes d(RIGHT, ALARM) / C trials of them (Wald's bound, at the shared rate that
  is hardest to tell apart). They say nothing about the place; the other trials must bring it from log 59 nats to what an
  answer leaves that is right with `RIGHT` (Fano), again C at most each.
- **both rates told**: the ratio test for just these rates, against the shared rate that is hardest to tell apart; then the
  posterior over the places, and the choice of our own search.
- **the seven pairs told**: the same with a posterior over the pairs of the table, in both directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import exp, log

from bisect_tool.search.flaky.belief import Belief, Share
from bisect_tool.search.flaky.choice import Prices, choices, is_closed
from bisect_tool.search.flaky.evidence import Evidence, Tally
from bisect_tool.search.flaky.rates import log_likelihood
from bisect_tool.search.prior import EVENLY
from tests.benchmarks.search.outcomes import BUILDS, CHANGES, Run, history
from tests.search.flaky.searching import FlakySearch

RIGHT, ALARM = 0.99, 0.005
GOALS = {1: 200.0, 14: 100.0}  # of the test of the ends, by the number of pairs: alarms in 0.3 to 0.4 % of searches
PLACE = 0.995
MOST_PAIRS = 150
Pair = tuple[float, float]
SEVEN = (*CHANGES, *((after, before) for before, after in CHANGES))


def floor(before: float, after: float) -> float:
    """The fewest trials on average of any search, even one that knows both rates."""
    ends = _divergence(RIGHT, ALARM)
    left = _entropy(1 - RIGHT) + (1 - RIGHT) * log(BUILDS - 2)
    return (ends + log(BUILDS - 1) - left) / capacity(before, after)


def capacity(one: float, other: float) -> float:
    """The most that a trial can say about which of two rates a build has, in nats: over all shares of the two."""
    return max(_said(one, other, share / 1000) for share in range(1, 1000))


def _said(one: float, other: float, share: float) -> float:
    mixed = share * one + (1 - share) * other
    return _entropy(mixed) - share * _entropy(one) - (1 - share) * _entropy(other)


def _entropy(rate: float) -> float:
    return -sum(part * log(part) for part in (rate, 1 - rate) if part > 0)


def _divergence(one: float, other: float) -> float:
    return one * log(one / other) + (1 - one) * log((1 - one) / (1 - other))


def told(pairs: Sequence[Pair], before: float, after: float, seed: int) -> Run:
    """A search that is told that the rates are one of `pairs`."""
    true, outcomes = history(before, after, seed)
    search = FlakySearch(outcomes)
    if not _differ(search, pairs):
        return Run(true, None, search.ran, search.installs, said_no_change=True)
    while True:
        evidence = search.evidence()
        belief = _believe(evidence, pairs)
        if belief.best.chance >= PLACE and is_closed(belief.best.gap):
            return Run(true, belief.best.gap.after, search.ran, search.installs, belief.best.chance)
        search.serve(choices(belief, EVENLY, Prices(), evidence.ready)[0].build)


def _differ(search: FlakySearch, pairs: Sequence[Pair]) -> bool:
    """Both ends in turn, until the mean of the ratios of `pairs` reaches its goal, or every single one is below `ALARM`."""
    low, high = 0, search.size - 1
    for _ in range(MOST_PAIRS):
        search.serve(high)
        search.serve(low)
        evidence = search.evidence()
        ratios = [_ratio(evidence.tally(low), evidence.tally(high), pair) for pair in pairs]
        if sum(ratios) / len(ratios) >= GOALS[len(pairs)]:
            return True
        if max(ratios) <= ALARM:
            return False
    return False


def _ratio(older: Tally, newer: Tally, pair: Pair) -> float:
    apart = log_likelihood(older, pair[0]) + log_likelihood(newer, pair[1])
    together = log_likelihood(older + newer, sum(pair) / 2)
    return exp(apart - together) if together > -float("inf") else 0.0


def _believe(evidence: Evidence, pairs: Sequence[Pair]) -> Belief:
    judged = evidence.judged(0, evidence.size - 1)
    total = evidence.total(judged)
    older = list(accumulate(map(evidence.tally, judged), initial=Tally()))[1:-1]
    rows = [
        [
            log(after - before) + log_likelihood(tally, one) + log_likelihood(total - tally, other)
            for one, other in pairs
        ]
        for (before, after), tally in zip(pairwise(judged), older, strict=True)
    ]
    top = max(map(max, rows))
    plain = [[exp(one - top) for one in row] for row in rows]
    everything = sum(map(sum, plain))
    shares = [
        Share(gap, sum(row) / everything, _mean(row, [one for one, _ in pairs]), _mean(row, [new for _, new in pairs]))
        for gap, row in zip(evidence.gaps(judged), plain, strict=True)
    ]
    return Belief(tuple(shares), 0.0, 0.5)


def _mean(weights: Sequence[float], rates: Sequence[float]) -> float:
    total = sum(weights)
    return sum(weight * rate for weight, rate in zip(weights, rates, strict=True)) / total if total > 0 else 0.5
