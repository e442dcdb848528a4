"""Whether a failure shows at different rates on two builds, by a test that stays valid however often one looks.

The trials of the two builds are taken in pairs, one of each. For two presumed rates a and b, the chance of a pair under
them, divided by its chance when both builds have the rate (a + b) / 2, is a fair bet against "both are alike": whatever
rate they share, it does not grow on average (Turner, Ly, Grünwald: Generic E-variables for exact sequential k-sample
tests). A weighted mean of such bets is one too, so that it passes 1 / doubt with a chance of at most `doubt`, however long one
watches (Ville). The weights are those of changes that a few dozen trials can show, in both directions; changes that are
hard to see have more, since an unlikely weight costs them most.

Ville's bound is for watching without end, and a bet steps over its goal. With at most `MOST_PAIRS` all outcomes can be
enumerated: the chance of passing `GOAL` / doubt is at most half of the doubt, whatever the shared rate is and after however
many looks, for doubts up to `SMALL` (`tests/benchmarks/search/ends.py`). The weights are such that this chance is about the
same for all rates between 0.1 and 0.5.

The search for a difference ends in vain when no presumed change explains the trials nearly as well as one rate for both
does, or after `MOST_PAIRS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import accumulate
from math import exp, log

from bisect_tool.search.flaky.evidence import Tally
from bisect_tool.search.flaky.rates import information, log_likelihood

MOST_PAIRS = 150
VISIBLE = 0.14  # nats a pair: changes at least this clear must be ruled out before "no reliable change" is said
PRESUMED = (
    ((0.0, 1.0), 30), ((0.0, 0.2), 100), ((0.0, 0.35), 14), ((0.0, 0.5), 8), ((0.0, 0.75), 6), ((0.05, 1.0), 4),
    ((0.1, 0.5), 20), ((0.1, 0.9), 6), ((0.2, 0.8), 14), ((0.2, 0.6), 5), ((0.05, 0.3), 6), ((0.2, 1.0), 4),
    ((0.5, 1.0), 8), ((0.8, 1.0), 12), ((0.65, 1.0), 6), ((0.5, 0.9), 8), ((0.4, 0.8), 4),
)  # fmt: skip
GRID = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 1.0)
GOAL = 0.8  # the value of the bet that counts, in units of 1 / doubt
SMALL = 0.05  # larger doubts were not enumerated: for them Ville's bound counts
RULED_OUT = 5  # a change is ruled out when it explains the trials this much worse than `doubt` would ask for


class Finding(StrEnum):
    """What the trials of two builds say about their rates."""

    DIFFERENT = "different"
    ALIKE = "alike"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`finding` after `pairs` pairs of trials; `strength` is the value of the bet against "alike": 100 is 1 in 100."""

    finding: Finding
    pairs: int
    strength: float


def compare(older: Sequence[bool], newer: Sequence[bool], doubt: float) -> Comparison:
    """Compare the trials of two builds, pair by pair; the first finding stands, trials without a partner do not count.

    `doubt`: twice the chance of `DIFFERENT`, at most, when the rates are the same.
    """
    strength, pairs = 1.0, 0
    sums = zip(accumulate(map(int, older)), accumulate(map(int, newer)), strict=False)
    for pairs, (left, right) in enumerate(sums, start=1):
        finding, strength = finding_of(left, right, pairs, doubt)
        if finding is not Finding.OPEN:
            return Comparison(finding, pairs, strength)
    return Comparison(Finding.OPEN, pairs, strength)


def finding_of(left: int, right: int, pairs: int, doubt: float) -> tuple[Finding, float]:
    """What `left` and `right` of `pairs` trials say when nothing was found before, and the value of the bet."""
    strength, best = _look(left, right, pairs)
    if strength >= (GOAL if doubt <= SMALL else 1.0) / doubt:
        return Finding.DIFFERENT, strength
    if best <= log(doubt / RULED_OUT) or pairs >= MOST_PAIRS:
        return Finding.ALIKE, strength
    return Finding.OPEN, strength


@cache
def _bets() -> tuple[tuple[float, float, float], ...]:
    total = 2 * sum(weight for _, weight in PRESUMED)
    return tuple(
        (log(weight / total), one, other)
        for rates, weight in PRESUMED
        for one, other in (rates, rates[::-1])
    )  # fmt: skip


@cache
def _visible() -> tuple[tuple[float, float], ...]:
    return tuple((one, other) for one in GRID for other in GRID if information(one, other) >= VISIBLE)


@cache
def _look(left: int, right: int, pairs: int) -> tuple[float, float]:
    """The value of the bet, and how well the best visible change explains the trials (log ratio to one rate for both)."""
    older, newer = Tally(left, pairs), Tally(right, pairs)
    both = older + newer
    value = sum(
        exp(share + log_likelihood(older, one) + log_likelihood(newer, other) - under)
        for share, one, other in _bets()
        if (under := log_likelihood(both, (one + other) / 2)) > -float("inf")
    )
    best = max(log_likelihood(older, one) + log_likelihood(newer, other) for one, other in _visible())
    return value, best - log_likelihood(both, both.shown / both.trials)
