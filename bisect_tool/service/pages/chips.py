"""States in a small box: a sign, a word and a kind that decides the colour; never the colour alone. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, assert_never

from bisect_tool.reports.report import State
from bisect_tool.service.question import Job, JobState, Question, QuestionState

Kind = Literal["good", "unsure", "bad", "busy", "plain"]


@dataclass(frozen=True, slots=True)
class Chip:
    """A sign, a word, and how it is coloured."""

    sign: str
    word: str
    kind: Kind


_OUTCOMES = {
    "exact": Chip("✓", "exact", "good"),
    "narrowed": Chip("≈", "narrowed", "unsure"),
    "no change": Chip("=", "no change", "plain"),
    "not judged": Chip("?", "not judged", "unsure"),
    "unfinished": Chip("…", "unfinished", "unsure"),
}
_STATES: dict[State, Chip] = {
    "pass": Chip("✓", "pass", "good"),
    "failing": Chip("✗", "failing", "bad"),
    "flaky": Chip("~", "flaky", "unsure"),
    "untestable": Chip("?", "untestable", "plain"),
    "not tried": Chip("·", "not tried", "plain"),
}


def of_question(question: Question) -> Chip:
    """How a question stands: what was found, once it is answered."""
    match question.state:
        case QuestionState.QUEUED:
            return Chip("○", "waiting", "busy")
        case QuestionState.RUNNING:
            return Chip("▸", "running", "busy")
        case QuestionState.ANSWERED:
            return of_outcome(question.outcome)
        case QuestionState.FAILED:
            return Chip("✗", "failed", "bad")
        case QuestionState.CANCELLED:
            return Chip("–", "cancelled", "plain")
        case _:
            assert_never(question.state)


def of_outcome(outcome: str | None) -> Chip:
    """The outcome of a report."""
    return _OUTCOMES.get(outcome or "", Chip("✓", outcome or "answered", "plain"))


def of_job(job: Job) -> Chip:
    """How a job stands."""
    match job.state:
        case JobState.WAITING:
            return Chip("○", "waiting", "busy")
        case JobState.RUNNING:
            return Chip("–", "ending", "busy") if job.cancel else Chip("▸", "running", "busy")
        case JobState.DONE:
            return Chip("✓", "done", "good")
        case JobState.FAILED:
            return Chip("✗", "failed", "bad")
        case JobState.CANCELLED:
            return Chip("–", "cancelled", "plain")
        case _:
            assert_never(job.state)


def of_state(state: State) -> Chip:
    """The state of a case on a build."""
    return _STATES[state]
