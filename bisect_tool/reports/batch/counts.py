"""How many specs of a batch came to what. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bisect_tool.reports.batch.line import SpecLine


@dataclass(frozen=True, slots=True)
class Counts:
    """Of `specs`: those with each outcome; `unanswered` are invalid or failed. `still_open`: the newest build fails.

    `installed` builds and `trials` are those of the run, `known` trials came from the store.
    """

    specs: int
    exact: int
    narrowed: int
    no_change: int
    not_judged: int
    unfinished: int
    unanswered: int
    still_open: int
    installed: int
    trials: int
    known: int


def counts_of(lines: Sequence[SpecLine]) -> Counts:
    """The counts of these lines."""
    outcomes = [line.outcome if line.status == "answered" else None for line in lines]
    statuses = [line.status for line in lines]
    return Counts(
        specs=len(lines),
        exact=outcomes.count("exact"),
        narrowed=outcomes.count("narrowed"),
        no_change=outcomes.count("no change"),
        not_judged=outcomes.count("not judged"),
        unfinished=statuses.count("unfinished"),
        unanswered=statuses.count("failed") + statuses.count("invalid"),
        still_open=sum(bool(line.open_changes) for line in lines),
        installed=sum(line.installed for line in lines),
        trials=sum(line.trials for line in lines),
        known=sum(line.known for line in lines),
    )
