"""What the API takes and gives. Times are UTC in ISO 8601, durations in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bisect_tool.service.evidence import FailureShown, Trial
from bisect_tool.service.question import Job, JobState, Purpose, Question, QuestionState
from bisect_tool.service.services import Hosting
from bisect_tool.service.workers import WorkerSeen, WorkerState

MOST_FILES = 200
EXAMPLE_ID = "q0123456789abcdef0123"
_EXAMPLE_SPEC = """\
name: scatter-grad
package: toy
channel: release
from: "1.0"
script: repro.py
"""


class Given(BaseModel):
    """What a client sends: an unknown key is a mistake."""

    model_config = ConfigDict(extra="forbid")


class GivenFile(Given):
    """A file of the repro: `text`, or `base64` of any bytes."""

    path: str = Field(min_length=1, max_length=300, description="Relative to the spec, with `/`.")
    text: str | None = Field(default=None, description="The content as text (UTF-8).")
    base64: str | None = Field(default=None, description="The content as base64, where it is no text.")


class NewQuestion(Given):
    """A question: a spec as `bisect run` takes it, and the files that it names."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"spec": _EXAMPLE_SPEC, "files": [{"path": "repro.py", "text": "import toy\ntoy.run('grad')\n"}]}
            ]
        },
    )

    spec: str = Field(min_length=1, max_length=1_000_000, description="The text of the spec (YAML; docs/spec.md).")
    files: list[GivenFile] = Field(default_factory=list, max_length=MOST_FILES, description="The files of the repro.")
    priority: int = Field(default=50, ge=0, le=100, description="More comes first; above 50 needs the scope `admin`.")
    source: str | None = Field(default=None, max_length=500, description="Where the question comes from, for people.")


class Fault(BaseModel):
    """Why there is no answer."""

    status: int = Field(description="The exit status that `bisect run` has for it (docs/exit-statuses.md).")
    what: str
    where: str | None = None
    advice: str


class JobShown(BaseModel):
    """Work on a question. `attempts` counts those that a fault of the machine ended; `cancel`: it is to end."""

    id: int
    purpose: Purpose
    state: JobState
    priority: int
    lane: str
    owner: str
    queued: datetime
    not_before: datetime
    attempts: int
    cancel: bool
    worker: str | None
    started: datetime | None
    ended: datetime | None
    outcome: str | None
    error: Fault | None


class QuestionShown(BaseModel):
    """A question and how it stands. `address` is its page for people."""

    id: str = Field(examples=[EXAMPLE_ID])
    name: str
    title: str
    package: str
    channel: str
    issue: str | None
    owner: str = Field(description="The name of the token that asked first; empty for nobody in particular.")
    source: str | None
    state: QuestionState
    outcome: str | None = Field(description="Of the answer: exact, narrowed, no change, not judged, unfinished.")
    run: str | None = Field(description="The run whose report is the answer.")
    error: Fault | None
    submitted: datetime
    changed: datetime
    address: str


class QuestionWhole(QuestionShown):
    """A question with its answer in sentences, the work on it, and what was handed in."""

    summary: list[str] = Field(description="The answer in sentences; empty without one.")
    spec: str
    files: list[str] = Field(description="The paths of its files.")
    jobs: list[JobShown]


class Submitted(BaseModel):
    """What became of a question that was handed in. `is_new`: nobody had asked it before."""

    is_new: bool
    question: QuestionShown
    job: JobShown | None = Field(description="The work that is still to be done; null when the answer is there.")


class QuestionList(BaseModel):
    """A page of questions, the last changed first; `next` is the `before` of the next page."""

    questions: list[QuestionShown]
    next: str | None


class Retry(Given):
    """How a question is tried again."""

    fresh: bool = Field(
        default=False, description="Do not use stored trials; else the search goes on from what is known."
    )


class FailureOfTrial(BaseModel):
    """A failure that a trial showed, with what makes it the same as others."""

    id: str
    name: str | None
    kind: str
    title: str
    types: list[str]
    message: str
    where: str | None
    text: str


class TrialShown(BaseModel):
    """One trial, the evidence for a state."""

    number: int
    case: str
    build: str
    device: str
    state: Literal["pass", "failing", "untestable", "machine"]
    reason: str | None
    failures: list[FailureOfTrial]
    finished: str
    seconds: float
    command: str
    exit_status: int | None
    signal: int | None
    timed_out: bool
    peak_memory: int | None = Field(description="Bytes.")
    output: str = Field(description="What it printed; the log has all of it.")
    environment: dict[str, Any] | None = Field(description="What the environment held when it was proven.")
    log: str | None = Field(description="The address of the log: of this server, or where logs are shared.")


class TrialList(BaseModel):
    """The trials of a case on a build, in the order in which they ended."""

    trials: list[TrialShown]


class WaitingJob(BaseModel):
    """A job that waits, with its position in the queue (1 is next), its age in seconds, and why, if not for its turn."""

    position: int
    job: JobShown
    question: str
    age: float
    why: str


class QueueShown(BaseModel):
    """What waits, the next one first; `total` is how many do, `running` how many jobs are worked on."""

    waiting: list[WaitingJob]
    total: int
    running: int


class WorkerShown(BaseModel):
    """A worker; `silent` is how many seconds ago it gave a sign of life, `about` the question that it works on."""

    id: str
    host: str
    lanes: list[str]
    state: WorkerState
    about: str
    done: int
    started: datetime
    silent: float
    is_alive: bool


class WorkerList(BaseModel):
    """The workers, those that started last first."""

    workers: list[WorkerShown]


class Health(BaseModel):
    """Whether the server can work. `failing` names what cannot."""

    status: Literal["ok", "failing"]
    failing: list[str] = Field(default_factory=list)


def moment(seconds: float | None) -> datetime | None:
    """Seconds since 1970 as a time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def shown_question(question: Question, hosting: Hosting) -> QuestionShown:
    """A question as the API shows it."""
    return QuestionShown(**question_values(question, hosting))


def question_values(question: Question, hosting: Hosting) -> dict[str, Any]:
    """The fields of `QuestionShown`."""
    names = ("id", "name", "title", "package", "channel", "issue", "owner", "source", "state", "outcome", "run")
    return {
        **{name: getattr(question, name) for name in names},
        "error": _fault(question.error),
        "submitted": moment(question.submitted),
        "changed": moment(question.changed),
        "address": f"{hosting.address}/q/{question.id}",
    }


def shown_job(job: Job) -> JobShown:
    """A job as the API shows it."""
    names = ("id", "purpose", "state", "priority", "lane", "owner", "attempts", "cancel", "worker", "outcome")
    values: dict[str, Any] = {name: getattr(job, name) for name in names}
    for name in ("queued", "not_before", "started", "ended"):
        values[name] = moment(getattr(job, name))
    return JobShown(**values, error=_fault(job.error))


def shown_trial(trial: Trial, question: str) -> TrialShown:
    """A trial as the API shows it."""
    names = ("number", "case", "build", "device", "state", "reason", "finished", "seconds", "command", "exit_status")
    more = ("signal", "timed_out", "peak_memory", "output", "environment")
    own = f"/api/v1/questions/{question}/logs/{trial.number}"
    return TrialShown(
        **{name: getattr(trial, name) for name in (*names, *more)},
        failures=[_shown_failure(one) for one in trial.failures],
        log=own if trial.log_here else trial.log,
    )


def shown_worker(worker: WorkerSeen) -> WorkerShown:
    """A worker as the API shows it."""
    names = ("id", "host", "state", "about", "done", "silent", "is_alive")
    started = datetime.fromtimestamp(worker.started, UTC)
    return WorkerShown(**{name: getattr(worker, name) for name in names}, lanes=list(worker.lanes), started=started)


def _shown_failure(failure: FailureShown) -> FailureOfTrial:
    names = ("id", "name", "kind", "title", "message", "where", "text")
    return FailureOfTrial(**{name: getattr(failure, name) for name in names}, types=list(failure.types))


def _fault(error: Mapping[str, Any] | None) -> Fault | None:
    return None if error is None else Fault.model_validate(error)
