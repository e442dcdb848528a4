"""How far the studies of a failure that comes and goes have come, as an event tells it. Plain values, for JSON."""

from __future__ import annotations

from dataclasses import dataclass

from bisect_tool.reports.rates import StudyVerdict


@dataclass(frozen=True, slots=True)
class SideRate:
    """As `rates.Rate`: `shown` of `trials` trials had the failure; the true share lies between `low` and `high`."""

    shown: int
    trials: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class StudyStand:
    """One study. Builds are places, counted from 0, in the builds with which its run has started (`events.RunStarted`).

    `before`, `after`, `confidence`, `older` and `newer` as in `rates.RateStudy`; as long as the verdict is `unfinished` the
    latter two are of the ends. `chances` are those of each build after `first` up to `last`, oldest first, that the rate
    changed with it; empty until the ends were told apart. About `trials_left` trials and `seconds_left` seconds are left; None:
    nobody knows, or nothing is.
    """

    first: int
    last: int
    trials: int
    verdict: StudyVerdict
    older: SideRate
    newer: SideRate
    before: int | None = None
    after: int | None = None
    confidence: float | None = None
    chances: tuple[float, ...] = ()
    trials_left: int | None = None
    seconds_left: float | None = None
