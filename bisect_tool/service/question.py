"""What the service is asked, and the work on it, as values. Times are seconds since 1970 by the clock of the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MOST_SPEC_BYTES = 1_000_000
MOST_FILE_BYTES = 16_000_000  # of all files together
MOST_CODE_BYTES = (
    1_000_000  # of one Python file: it is parsed where it arrives, which takes a hundred times its size in memory
)
MOST_FILES = 200
USUAL_PRIORITY = 50
PRIORITIES = (0, 100)  # least and most; more comes first


class QuestionState(StrEnum):
    """How a question stands."""

    QUEUED = "queued"
    RUNNING = "running"
    ANSWERED = "answered"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Purpose(StrEnum):
    """What a job is for.

    `FRESH` answers without the trials that are stored, `WATCH` looks at new builds of an open failure, `VERIFY` finds an old
    answer again. The last two leave the state of their question alone.
    """

    ANSWER = "answer"
    FRESH = "fresh"
    WATCH = "watch"
    VERIFY = "verify"


ANSWERING = (Purpose.ANSWER, Purpose.FRESH)  # the purposes that decide about the state of a question


class JobState(StrEnum):
    """How a job stands. A running one may be cancelled by then (`Job.cancel`), and stops soon."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Submission:
    """What somebody hands in: the text of the spec, and its files as (path relative to the spec, content)."""

    spec: str
    files: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks: the name of the token, empty for nobody in particular; see `tokens.seconds_a_day`."""

    name: str = ""
    seconds_a_day: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question. `run` is the run whose report is the answer, None without one; `error` as in `fault_values`."""

    id: str
    digest: str
    name: str
    title: str
    package: str
    channel: str
    issue: str | None
    spec: str
    repro: str
    owner: str
    source: str | None
    state: QuestionState
    outcome: str | None
    run: str | None
    error: Mapping[str, Any] | None
    submitted: float
    changed: float


@dataclass(frozen=True, slots=True)
class Job:
    """Work on a question. `attempts` counts faults of the machine since it last got on; `cancel`: it is to end."""

    id: int
    question: str
    purpose: Purpose
    state: JobState
    priority: int
    lane: str
    owner: str
    queued: float
    not_before: float
    attempts: int
    cancel: bool
    worker: str | None
    started: float | None
    ended: float | None
    run: str | None
    outcome: str | None
    error: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of a submission: `is_new` when nobody had asked it; `job` is the work that is still to be done on it."""

    question: Question
    job: Job | None
    is_new: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """Which questions are wanted: all that fit, the last changed first.

    `text` is looked for in names, titles and issues. `before` is the `next` of the page before.
    """

    text: str | None = None
    states: tuple[QuestionState, ...] = ()
    package: str | None = None
    owner: str | None = None
    before: str | None = None
    most: int = 50


@dataclass(frozen=True, slots=True)
class Found:
    """A page of questions; `next` is the `before` of the next one, None on the last."""

    questions: list[Question]
    next: str | None


def fault_values(what: str, advice: str, status: int, where: str | None = None) -> dict[str, Any]:
    """An error as it is stored in `error`: its status (`docs/exit-statuses.md`), and what, where and what to do next."""
    return {"status": status, "what": what, "where": where, "advice": advice}
