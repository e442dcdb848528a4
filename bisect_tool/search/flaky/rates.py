"""How often a failure shows: what is presumed of a rate, and what counts of trials say about it.

A rate is one of 21 levels, evenly spread in the arcsine of its root, where the same step is equally hard to see everywhere
(so that the levels amount to Jeffreys' prior). Never and always get some more weight: most failures are not flaky. Much more
would be too much: who takes a failure that was not seen for one that cannot be names wrong builds where it is merely rare.
A change is one from a level to another that a few dozen trials can tell apart, in either direction. The harder it is to see,
the more weight it has: who presumes clear changes is too soon sure of them. A part of the weight belongs to changes
from never to always and back, the usual kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import exp, inf, log, log1p, pi, sin

from bisect_tool.search.flaky.evidence import Tally

STEPS = 20
LEVELS = (*(sin(pi * step / 2 / STEPS) ** 2 for step in range(STEPS)), 1.0)
SMALLEST = 0.1  # nats that one trial on each side must say on average, to be a change: 0 → 0.14, 0.1 → 0.37, 0.5 → 0.8
NEGLIGIBLE = 1e-60  # of the likelihood of the best level
_IMPOSSIBLE = -1e6  # a logarithm of 0 that can be multiplied by 0
_LOGS = tuple(
    (log(level) if level > 0 else _IMPOSSIBLE, log1p(-level) if level < 1 else _IMPOSSIBLE) for level in LEVELS
)
STEADY = 2.0  # further weight of never and of always, where every level has 1
USUAL = 0.3  # the part of all changes that are from never to always, or from always to never


def log_likelihood(tally: Tally, rate: float) -> float:
    """The logarithm of the chance of these very trials when the failure shows at `rate`; -inf when it cannot be."""
    passed = tally.trials - tally.shown
    if (tally.shown and rate <= 0) or (passed and rate >= 1):
        return -inf
    return (tally.shown * log(rate) if tally.shown else 0.0) + (passed * log1p(-rate) if passed else 0.0)


def information(one: float, other: float) -> float:
    """How much a trial on each side says on average about whether two rates differ, in nats: 0 to 2 log 2."""
    return _divergence(one, (one + other) / 2) + _divergence(other, (one + other) / 2)


def _divergence(rate: float, other: float) -> float:
    shows = rate * log(rate / other) if rate > 0 else 0.0
    return shows + ((1 - rate) * log((1 - rate) / (1 - other)) if rate < 1 else 0.0)


@cache
def _weights() -> tuple[float, ...]:
    plain = [1.0 + (STEADY if level in {0.0, 1.0} else 0.0) for level in LEVELS]
    return tuple(weight / sum(plain) for weight in plain)


@cache
def _pairs() -> tuple[tuple[float, ...], ...]:
    """The presumed chance of each level before (rows) with each level after (columns); 0 where the two are too alike."""
    plain = [
        [
            left * right / nats if (nats := information(one, other)) >= SMALLEST else 0.0
            for other, right in zip(LEVELS, _weights(), strict=True)
        ]
        for one, left in zip(LEVELS, _weights(), strict=True)
    ]
    total = sum(map(sum, plain))
    pairs = [[(1 - USUAL) * chance / total for chance in row] for row in plain]
    pairs[0][-1] += USUAL / 2
    pairs[-1][0] += USUAL / 2
    return tuple(map(tuple, pairs))


@dataclass(frozen=True, slots=True)
class Sides:
    """A change between two groups of trials: the logarithm of their chance, and the rate expected on each side."""

    log_chance: float
    before: float
    after: float


def sides(before: Tally, after: Tally) -> Sides:
    """What two groups of trials say when the rate changes between them."""
    (left, left_top), (right, right_top) = _scaled(before), _scaled(after)
    here, there = _likely(left), _likely(right)
    older = list(map(float.__mul__, left[here], _mixed(right, there, here)))
    total = sum(older)
    if total < 1e-300:  # no two rates that differ enough explain the trials
        return Sides(-inf, _expected(left), _expected(right))
    newer = map(float.__mul__, right[there], _mixed(left, here, there))
    means = (sum(map(float.__mul__, side, LEVELS[part])) / total for side, part in ((older, here), (newer, there)))
    return Sides(log(total) + left_top + right_top, *means)


def _likely(shares: list[float]) -> slice:
    """The levels that matter: the likelihood has one peak, and far from it there is nothing to add."""
    levels = [level for level, share in enumerate(shares) if share > NEGLIGIBLE]
    return slice(levels[0], levels[-1] + 1)


def _mixed(shares: list[float], given: slice, wanted: slice) -> list[float]:
    """What the `given` levels of one side presume for each `wanted` level of the other; the same in both directions."""
    part = shares[given]
    return [sum(map(float.__mul__, row[given], part)) for row in _pairs()[wanted]]


def alike(tally: Tally) -> tuple[float, float]:
    """What one group of trials says when the rate is the same for all: the logarithm of its chance, the rate expected."""
    shares, top = _scaled(tally)
    return log(sum(map(float.__mul__, shares, _weights()))) + top, _expected(shares)


def _scaled(tally: Tally) -> tuple[list[float], float]:
    """The likelihood at each level, divided by the largest; and the logarithm of the largest."""
    shown, passed = tally.shown, tally.trials - tally.shown
    logs = [shown * shows + passed * passes for shows, passes in _LOGS]
    top = max(logs)
    return [exp(one - top) for one in logs], top


def _expected(shares: list[float]) -> float:
    weighted = list(map(float.__mul__, shares, _weights()))
    return sum(map(float.__mul__, weighted, LEVELS)) / sum(weighted)
