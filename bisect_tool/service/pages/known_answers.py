"""Stored answers that a search finds by the failure, beside the questions that it finds by their names. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.service.finding import Answer, Finding, Match
from bisect_tool.service.finding_text import history
from bisect_tool.service.pages.chips import Chip

MOST = 5
LEAST_SCORE = 0.5  # of the words that an answer must share which is only near
_HOW = {
    Match.FAILURE: Chip("✓", "the same", "good"),
    Match.QUESTION: Chip("✓", "the same", "good"),
    Match.REPRO: Chip("≈", "same script", "unsure"),
    Match.NAME: Chip("≈", "names it", "unsure"),
    Match.ISSUE: Chip("✓", "same issue", "good"),
    Match.PACKAGE: Chip("≈", "same package", "unsure"),
    Match.NEAR: Chip("≈", "similar", "unsure"),
}


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """One failure of a stored answer: how it fits, where it is shown, and since when and until when it is there."""

    how: Chip
    page: str
    title: str
    about: str
    history: tuple[str, ...]


def known_answers(finding: Finding, shown: Collection[str]) -> tuple[KnownAnswer, ...]:
    """What the look-up found that has a page, without the questions (ids) that are `shown` anyway."""
    fitting = (
        answer
        for answer in finding.answers
        if answer.page and answer.page.rpartition("/")[2] not in shown
        if answer.match is not Match.PACKAGE and (answer.match is not Match.NEAR or answer.score >= LEAST_SCORE)
    )
    return tuple(_known(answer) for answer, _ in zip(fitting, range(MOST), strict=False))


def _known(answer: Answer) -> KnownAnswer:
    assert answer.page is not None
    return KnownAnswer(
        how=_HOW[answer.match],
        page=answer.page,
        title=one_line(clean(answer.title or answer.spec_title or answer.spec), 200),
        about=", ".join(filter(None, (answer.spec, answer.package, answer.case and f"case {answer.case}"))),
        history=tuple(one_line(clean(f"{text[:1].upper()}{text[1:]}"), 300) for text in history(answer)),
    )
