"""Where the rate of a failure changes, as a chance for each place, with the rates on both sides unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import exp, inf, log

from bisect_tool.search.flaky.evidence import Evidence, Tally
from bisect_tool.search.flaky.rates import alike, sides
from bisect_tool.search.knowledge import Gap
from bisect_tool.search.prior import EVENLY, Prior

NO_CHANGE = 0.5  # what "one rate for all builds" is given before any trial


@dataclass(frozen=True, slots=True)
class Share:
    """The chance that the change lies in `gap`, and the rate that is expected on each side when it does."""

    gap: Gap
    chance: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Belief:
    """The chances of all gaps between judged builds, oldest first; with `no_change` they sum to 1.

    `rate` is what is expected of every build when nothing changes. Inside a gap the prior says how likely each place is.
    """

    shares: tuple[Share, ...]
    no_change: float
    rate: float

    @property
    def best(self) -> Share:
        """The gap that most likely holds the change; the older of two equals."""
        return max(self.shares, key=lambda share: (share.chance, -share.gap.before))

    def range_with(self, confidence: float) -> tuple[int, int]:
        """The builds (before, after) that have the change between them with `confidence`: a narrow range of gaps.

        It grows from the best gap by the likelier neighbour; the whole range when even that is not enough.
        """
        low = high = self.shares.index(self.best)
        held = self.best.chance
        while held < confidence and (low > 0 or high + 1 < len(self.shares)):
            older = self.shares[low - 1].chance if low > 0 else -1.0
            newer = self.shares[high + 1].chance if high + 1 < len(self.shares) else -1.0
            low, high = (low - 1, high) if older >= newer else (low, high + 1)
            held += max(older, newer)
        return self.shares[low].gap.before, self.shares[high].gap.after


def believe(evidence: Evidence, low: int, high: int, prior: Prior = EVENLY) -> Belief:
    """The belief about one change between the judged builds `low` and `high`.

    A verdict rests on places that are all alike before any trial: a `prior` says where to look, and makes no name.
    """
    judged = evidence.judged(low, high)
    total = evidence.total(judged)
    older = list(accumulate((evidence.tally(build) for build in judged), initial=Tally()))[1:]
    told = [sides(tally, total - tally) for tally in older[:-1]]
    masses = [prior.weight(before, after) for before, after in pairwise(judged)]
    logs = [_log(mass) + one.log_chance for mass, one in zip(masses, told, strict=True)]
    steady, rate = alike(total)
    chances = _normalised([*logs, steady + log(sum(masses)) + log(NO_CHANGE / (1 - NO_CHANGE))])
    shares = tuple(
        Share(gap, chance, one.before, one.after)
        for gap, chance, one in zip(evidence.gaps(judged), chances, told, strict=False)
    )
    return Belief(shares, chances[-1], rate)


def _log(number: float) -> float:
    return log(number) if number > 0 else -inf


def _normalised(logs: Sequence[float]) -> list[float]:
    top = max(logs)
    plain = [exp(one - top) for one in logs]
    return [one / sum(plain) for one in plain]
