"""The list of questions with its search and filters: from what is asked in the address to what the page shows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from bisect_tool.reports.cleaning import one_line
from bisect_tool.service.pages import chips
from bisect_tool.service.pages.chips import Chip
from bisect_tool.service.question import Filter, Found, Question, QuestionState

MOST = 25
_WORDS = {
    QuestionState.QUEUED: "○ Waiting",
    QuestionState.RUNNING: "▸ Running",
    QuestionState.ANSWERED: "✓ Answered",
    QuestionState.FAILED: "✗ Failed",
    QuestionState.CANCELLED: "– Cancelled",
}
MOST_SAID = 320


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address asks for; `before` is where the page begins."""

    text: str = ""
    state: QuestionState | None = None
    package: str = ""
    owner: str = ""
    before: str = ""

    @property
    def filter(self) -> Filter:
        """The same for `Questions.find`."""
        return Filter(
            text=self.text.strip() or None,
            states=(self.state,) if self.state else (),
            package=self.package or None,
            owner=self.owner or None,
            before=self.before or None,
            most=MOST,
        )

    def address(self, **changes: str | None) -> str:
        """The address of the list with other values; what is empty is left out."""
        values: dict[str, str | None] = {
            "text": self.text.strip(),
            "state": self.state,
            "package": self.package,
            "owner": self.owner,
            **changes,
        }
        kept = {name: value for name, value in values.items() if value}
        return f"/?{urlencode(kept)}" if kept else "/"


@dataclass(frozen=True, slots=True)
class Choice:
    """A link that changes the filter."""

    words: str
    address: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One question; `said` is the first of its answer."""

    id: str
    chip: Chip
    title: str
    said: str
    name: str
    package: str
    package_address: str
    channel: str
    owner: str
    owner_address: str
    changed: float


@dataclass(frozen=True, slots=True)
class QuestionList:
    """What the page shows; `kept` are further values that the search form sends along."""

    text: str
    kept: tuple[tuple[str, str], ...]
    states: tuple[Choice, ...]
    narrowed: tuple[Choice, ...]
    rows: tuple[Row, ...]
    first: str | None
    next: str | None
    is_filtered: bool


def question_list(wanted: Wanted, found: Found, summaries: Mapping[str, Sequence[str]]) -> QuestionList:
    """The page; `summaries` are those of the reports, by run."""
    every = Choice("All", wanted.address(state=None), wanted.state is None)
    states = (Choice(words, wanted.address(state=state), wanted.state is state) for state, words in _WORDS.items())
    kept = (("state", wanted.state), ("package", wanted.package), ("owner", wanted.owner))
    return QuestionList(
        text=wanted.text,
        kept=tuple((name, value) for name, value in kept if value),
        states=(every, *states),
        narrowed=tuple(_narrowed(wanted)),
        rows=tuple(_row(question, summaries.get(question.run or "", ())) for question in found.questions),
        first=wanted.address() if wanted.before else None,
        next=wanted.address(before=found.next) if found.next else None,
        is_filtered=wanted != Wanted(),
    )


def _narrowed(wanted: Wanted) -> list[Choice]:
    found = [Choice(f"package {wanted.package}", wanted.address(package=None))] if wanted.package else []
    return found + ([Choice(f"asked by {wanted.owner}", wanted.address(owner=None))] if wanted.owner else [])


def _row(question: Question, summary: Sequence[str]) -> Row:
    return Row(
        id=question.id,
        chip=chips.of_question(question),
        title=one_line(question.title or question.name, 200),
        said=one_line(_said(question, summary), MOST_SAID),
        name=question.name,
        package=question.package,
        package_address=Wanted(package=question.package).address(),
        channel=question.channel,
        owner=question.owner,
        owner_address=Wanted(owner=question.owner).address(),
        changed=question.changed,
    )


def _said(question: Question, summary: Sequence[str]) -> str:
    if question.state is QuestionState.FAILED and question.error:
        return str(question.error.get("what", ""))
    return " ".join(summary[:2])
