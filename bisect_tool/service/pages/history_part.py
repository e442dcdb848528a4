"""What the page of a question tells besides its answer: earlier answers, whether it is watched, or in doubt. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bisect_tool.service.answers import Answer
from bisect_tool.service.pages import chips
from bisect_tool.service.pages.chips import Chip
from bisect_tool.service.question import Purpose
from bisect_tool.service.recheck import Verdict
from bisect_tool.service.reviews import Review
from bisect_tool.service.watches import Watch

MOST_ROWS = 50
WHY = {
    Purpose.ANSWER: "asked",
    Purpose.FRESH: "asked, from nothing",
    Purpose.WATCH: "new builds",
    Purpose.VERIFY: "a check",
}


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One answer: `told` is what it says that the one before did not."""

    at: float
    why: str
    chip: Chip
    told: tuple[str, ...]
    address: str
    is_present: bool


@dataclass(frozen=True, slots=True)
class HistoryPart:
    """The part of the page. `choices` are buttons: value and label; `doubt` are sentences, none where nothing is in doubt."""

    question: str
    watch: str
    choices: tuple[tuple[str, str], ...]
    doubt: tuple[str, ...]
    rows: tuple[HistoryRow, ...]


def history_part(answers: Sequence[Answer], watch: Watch, doubt: Review | None, *, may_work: bool) -> HistoryPart:
    """The part; `answers` are the newest first, `may_work`: whoever looks may say what is watched."""
    rows = tuple(_row(one, number) for number, one in enumerate(answers[:MOST_ROWS]))
    choices = tuple(_choices(watch)) if may_work and watch.open else ()
    return HistoryPart(watch.question, watch_sentence(watch), choices, tuple(_doubt(doubt)), rows)


def watch_sentence(watch: Watch) -> str:
    """Whether somebody looks at new builds."""
    if not watch.open:
        return "No failure reaches the newest build of the answer, so nothing is watched."
    if not watch.is_on:
        why = "somebody has turned that off" if watch.chosen is False else "nothing has changed for so long"
        return f"A failure is open, but new builds are not looked at: {why}."
    if watch.until is None:
        return "A failure is open: new builds are looked at until it is fixed."
    return f"A failure is open: new builds are looked at until {datetime.fromtimestamp(watch.until, UTC):%Y-%m-%d}."


def _choices(watch: Watch) -> list[tuple[str, str]]:
    choices = [("yes", "Watch until it is fixed")] if watch.chosen is not True else []
    choices += [("no", "Do not watch")] if watch.chosen is not False else []
    return choices + ([("auto", "As usual")] if watch.chosen is not None else [])


def _doubt(review: Review | None) -> list[str]:
    if review is None:
        return []
    found = review.found
    first = "This answer is in doubt: its builds were run again, and not all of them showed the same."
    if found.verdict is Verdict.REPLACED:
        first = "This answer is in doubt: another file lies under the name of one of its builds now."
    notes = [f"{one.case}: {one.note}" for one in found.checks if one.verdict in {Verdict.DIFFERS, Verdict.REPLACED}]
    return [first, *notes, "The question is being answered again, with the new trials."]


def _row(answer: Answer, number: int) -> HistoryRow:
    told = tuple(one.sentence for one in answer.news) or (() if answer.before else ("the first answer",))
    return HistoryRow(
        answer.at,
        WHY[answer.purpose],
        chips.of_outcome(answer.outcome),
        told or ("nothing new",),
        f"/q/{answer.question}/history/{answer.run}",
        number == 0,
    )
