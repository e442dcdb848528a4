"""About how much a study still takes, for whoever waits for it. No decision rests on it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

from bisect_tool.search.flaky.evidence import Evidence
from bisect_tool.search.flaky.study import Study, Terms

LEAST_BITS = 0.01  # a trial that is expected to say less than this says nothing that could be counted with
LEAST_CHANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Remaining:
    """About so many more trials, which take about so many seconds."""

    trials: int
    seconds: float


def remaining(evidence: Evidence, terms: Terms, study: Study) -> Remaining | None:
    """What is left of a study; None when it has its verdict, and until its ends were told apart: nobody knows then.

    A trial raises the odds of the true place by about as much as the next one is expected to, since they grow at a steady pace
    (`choice`). Never more than the budget of the study leaves.
    """
    if study.verdict is not None or study.belief is None or not study.works:
        return None
    work = study.works[0]
    wanted = _bits(terms.place) - sum(share.chance * _bits(share.chance) for share in study.belief.shares)
    wanted -= study.belief.no_change * _bits(study.belief.no_change)
    budget = terms.most_trials - evidence.total(evidence.judged(study.low, study.high)).trials
    each = max(LEAST_BITS, work.bits / work.trials)
    trials = min(max(work.trials, ceil(wanted / each)), max(1, budget))
    return Remaining(trials, trials * work.seconds / work.trials)


def _bits(chance: float) -> float:
    """The logarithm of the odds."""
    within = min(max(chance, LEAST_CHANCE), 1 - LEAST_CHANCE)
    return log2(within / (1 - within))
