"""How often the service is right about its own answers, as its page shows it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.service.accuracy import Accuracy, Precision, Reviewed
from bisect_tool.service.pages.chips import Chip
from bisect_tool.service.recheck import Verdict

MOST_WEEKS = 26
WIDTH, HEIGHT = 240, 18  # of the picture of an interval
_VERDICTS = {
    Verdict.SAME: Chip("✓", "the same", "good"),
    Verdict.DIFFERS: Chip("✗", "differs", "bad"),
    Verdict.NO_ANSWER: Chip("?", "could not be judged again", "plain"),
    Verdict.REPLACED: Chip("≠", "another file now", "unsure"),
}


@dataclass(frozen=True, slots=True)
class PrecisionRow:
    """One group: how many were the same of how many, the share with its interval, and that as a picture."""

    name: str
    counted: str
    share: str
    interval: str
    picture: Markup
    aside: str


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One review; `notes` say what was seen instead."""

    question: str
    name: str
    package: str
    kind: str
    at: float
    chip: Chip
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AccuracyPage:
    """What the page shows; `tables` are (heading, rows)."""

    headline: str
    figures: tuple[tuple[str, str], ...]
    tables: tuple[tuple[str, tuple[PrecisionRow, ...]], ...]
    answered: tuple[tuple[str, int], ...]
    unanswered: tuple[tuple[str, int], ...]
    doubted: tuple[ReviewRow, ...]
    last: tuple[ReviewRow, ...]


def accuracy_page(found: Accuracy) -> AccuracyPage:
    """The page."""
    weeks = dict(list(found.weeks.items())[-MOST_WEEKS:])
    tables = (
        ("All of them", (_row("answers", found.answers), _row("single changes", found.changes))),
        ("By kind of answer", _rows(found.kinds)),
        ("By package", _rows(found.packages)),
        ("By week", _rows(weeks)),
    )
    return AccuracyPage(
        headline=_headline(found.answers),
        figures=_figures(found),
        tables=tuple((heading, rows) for heading, rows in tables if rows) if found.last else (),
        answered=tuple(found.coverage.outcomes.items()),
        unanswered=tuple(found.coverage.why_not.items()),
        doubted=tuple(map(_review, found.doubted)),
        last=tuple(map(_review, found.last)),
    )


def percent(share: float | None) -> str:
    """A share in per cent; only what is wholly so is 100 %."""
    if share is None:
        return "–"
    if 0.995 <= share < 1.0:
        return f"{int(share * 1000) / 10:.1f} %"
    return f"{share * 100:.0f} %"


def _headline(answers: Precision) -> str:
    counted = answers.same + answers.differs
    if not counted:
        return "No old answer has been run again yet, so that nothing can be said of how often they are right."
    return (
        f"Of {counted} old answers that were run again on the same builds, {answers.same} came out the same: "
        f"{percent(answers.share)}, and with 95 % confidence between {percent(answers.low)} and {percent(answers.high)}."
    )


def _figures(found: Accuracy) -> tuple[tuple[str, str], ...]:
    return (
        ("of answers found again", percent(found.answers.share)),
        ("of single changes found again", percent(found.changes.share)),
        ("of questions answered", percent(found.coverage.share)),
        ("questions asked", str(found.coverage.asked)),
        ("answers in doubt", str(len(found.doubted))),
    )


def _rows(groups: Mapping[str, Precision]) -> tuple[PrecisionRow, ...]:
    return tuple(_row(str(name), one) for name, one in groups.items())


def _row(name: str, one: Precision) -> PrecisionRow:
    counted = one.same + one.differs
    aside = [f"{one.no_answer} could not be judged again"] if one.no_answer else []
    aside += [f"{one.replaced} are about a file that was replaced"] if one.replaced else []
    return PrecisionRow(
        name=name,
        counted=f"{one.same} of {counted}",
        share=percent(one.share),
        interval=f"{percent(one.low)} to {percent(one.high)}" if counted else "",
        picture=interval_picture(one) if counted else Markup(),
        aside=", ".join(aside),
    )


def interval_picture(one: Precision) -> Markup:
    """A line from the lower to the upper end on a scale from 0 to 100 %, with a dot at the share; SVG of numbers only."""
    left, right, dot = (6 + (WIDTH - 12) * value for value in (one.low, one.high, one.share or 0.0))
    middle = HEIGHT / 2
    picture = (
        f'<svg class="interval" aria-hidden="true" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
        f'<line class="scale" x1="6" x2="{WIDTH - 6}" y1="{middle}" y2="{middle}"/>'
        f'<line class="range" x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}"/>'
        f'<circle cx="{dot:.1f}" cy="{middle}" r="5"/></svg>'
    )
    return Markup(picture)  # noqa: S704  numbers only


def _review(one: Reviewed) -> ReviewRow:
    notes = (f"{check.case}: {check.note}" for check in one.checks if check.note and check.verdict is not Verdict.SAME)
    told = tuple(one_line(clean(note), 200) for note in notes)
    return ReviewRow(one.question, one.name, one.package, one.kind.value, one.at, _VERDICTS[one.verdict], told)
