"""What a batch came to as a whole: its last line and its exit status."""

from __future__ import annotations

from pathlib import Path

from bisect_tool.errors import Answered, SpecsUnanswered
from bisect_tool.reports.batch.counts import Counts
from bisect_tool.reports.sentences import plural
from bisect_tool.runs.batch.folder import PAGE


def last_line(counts: Counts, out: Path) -> str:
    """How many specs came to what, and where that is to be seen."""
    told = (
        (counts.exact, "exact"),
        (counts.narrowed, "narrowed"),
        (counts.no_change, "without a change"),
        (counts.not_judged, "not judged"),
        (counts.unfinished, "unfinished"),
        (counts.unanswered, "without an answer"),
    )
    parts = ", ".join(f"{number} {words}" for number, words in told if number)
    return f"{plural(counts.specs, 'spec')}: {parts or 'nothing to do'}; see {out / PAGE}"


def status_of(counts: Counts, out: Path) -> Answered:
    """The exit status of a batch that came to its end: that of its least certain answer.

    Raises `SpecsUnanswered` when some spec has no answer.
    """
    if missing := counts.unanswered + counts.unfinished:
        raise SpecsUnanswered(
            f"{missing} of {plural(counts.specs, 'spec')} have no answer; the others are answered",
            where=str(out / PAGE),
            advice="see there what is wrong with each, correct it, and run the same command again: only those are asked anew",
        )
    if counts.not_judged:
        return Answered.NOT_JUDGED
    return Answered.NARROWED if counts.narrowed else Answered.EXACT
