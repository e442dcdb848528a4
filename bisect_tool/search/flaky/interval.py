"""How well a rate is known from counts of trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, lgamma, log, log1p

from bisect_tool.search.flaky.evidence import Tally

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate, 0 to 1: what was seen, and the bounds that hold it with 95 % confidence."""

    tally: Tally
    low: float
    high: float

    @property
    def seen(self) -> float | None:
        """The share of trials that showed the failure; None without trials."""
        return self.tally.shown / self.tally.trials if self.tally.trials else None


def rate_of(tally: Tally) -> Rate:
    """The exact interval (Clopper and Pearson): never too narrow, for any true rate and fixed number of trials."""
    tail = (1 - LEVEL) / 2
    shown, trials = tally.shown, tally.trials
    low = 0.0 if shown == 0 else _root(lambda rate: 1 - _at_most(shown - 1, trials, rate) - tail)
    high = 1.0 if shown == trials else _root(lambda rate: tail - _at_most(shown, trials, rate))
    return Rate(tally, low, high)


def _at_most(shown: int, trials: int, rate: float) -> float:
    """The chance of at most `shown` in `trials`; 0 < rate < 1."""
    return sum(
        exp(_log_choose(trials, count) + count * log(rate) + (trials - count) * log1p(-rate))
        for count in range(shown + 1)
    )


def _log_choose(trials: int, count: int) -> float:
    return lgamma(trials + 1) - lgamma(count + 1) - lgamma(trials - count + 1)


def _root(rising: Callable[[float], float]) -> float:
    """Where a rising function of a rate crosses 0, to four digits."""
    low, high = 0.0, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return round((low + high) / 2, 4)
