"""One question as its page shows it. Pure: from values to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bisect_tool.quantities import format_duration, format_size
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.commit_lines import web_address
from bisect_tool.reports.report import Report
from bisect_tool.service.pages import chips
from bisect_tool.service.pages.chips import Chip, Kind
from bisect_tool.service.pages.live_view import LiveView
from bisect_tool.service.pages.moments import took
from bisect_tool.service.pages.question_list import Wanted
from bisect_tool.service.question import ANSWERING, Job, JobState, Purpose, Question, QuestionState

MOST_SHOWN = 200_000  # characters of a file
PURPOSES = {
    Purpose.ANSWER: "the answer",
    Purpose.FRESH: "the answer, anew",
    Purpose.WATCH: "a look at new builds",
    Purpose.VERIFY: "a check of the answer",
}


@dataclass(frozen=True, slots=True)
class Told:
    """How it stands, in a few sentences."""

    lines: tuple[str, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file of the repro; `told` instead of its text where it is none, or too long."""

    path: str
    text: str | None
    told: str = ""


@dataclass(frozen=True, slots=True)
class ShownJob:
    """A job in a row of a table."""

    id: int
    purpose: str
    chip: Chip
    queued: float
    took: str
    worker: str
    result: str


@dataclass(frozen=True, slots=True)
class ReportBody:
    """The report, and the values of `report_body.html.jinja`."""

    report: Report
    values: Mapping[str, Any]
    markdown: str


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """What the page shows. `is_live`: there is news to come; `told` and `live` are the part that changes then."""

    id: str
    title: str
    name: str
    chip: Chip
    package: str
    package_address: str
    channel: str
    owner: str
    issue: str | None
    submitted: float
    is_live: bool
    may_cancel: bool
    may_retry: bool
    told: Told | None
    live: LiveView | None
    report: ReportBody | None
    spec: str
    files: tuple[ShownFile, ...]
    jobs: tuple[ShownJob, ...]

    @property
    def markdown(self) -> str:
        """The report as Markdown."""
        return self.report.markdown if self.report else ""

    @property
    def events_address(self) -> str:
        """Where the stream of its events is."""
        return f"/api/v1/questions/{self.id}/events"


@dataclass(frozen=True, slots=True)
class Queued:
    """Where a job that waits stands in the queue: `position` counts from 1; `age` in seconds; `why` as in `places`."""

    position: int
    of: int
    age: float
    why: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Everything that the page is made of."""

    question: Question
    jobs: Sequence[Job]
    live: LiveView | None
    place: Queued | None
    now: float


def active_job(jobs: Sequence[Job]) -> Job | None:
    """The job that is shown live: one that answers and has not ended, a running one first."""
    active = [job for job in jobs if job.purpose in ANSWERING and job.state in {JobState.WAITING, JobState.RUNNING}]
    return next((job for job in active if job.state is JobState.RUNNING), active[0] if active else None)


def question_page(
    standing: Standing, files: Sequence[tuple[str, bytes]], report: ReportBody | None, *, may_work: bool
) -> QuestionPage:
    """The page; `may_work`: whoever looks may cancel and retry."""
    question = standing.question
    is_live = question.state in {QuestionState.QUEUED, QuestionState.RUNNING}
    return QuestionPage(
        id=question.id,
        title=one_line(clean(question.title or question.name), 300),
        name=question.name,
        chip=chips.of_question(question),
        package=question.package,
        package_address=Wanted(package=question.package).address(),
        channel=question.channel,
        owner=question.owner,
        issue=web_address(question.issue),
        submitted=question.submitted,
        is_live=is_live,
        may_cancel=may_work and is_live,
        may_retry=may_work and not is_live,
        told=_told(standing),
        live=standing.live,
        report=report,
        spec=clean(question.spec),
        files=tuple(_file(path, content) for path, content in files),
        jobs=tuple(_job(job) for job in sorted(standing.jobs, key=lambda job: -job.id)),
    )


def _told(standing: Standing) -> Told | None:
    question, job = standing.question, active_job(standing.jobs)
    match question.state:
        case QuestionState.QUEUED:
            return Told(tuple(_waiting(job, standing)), "busy")
        case QuestionState.RUNNING:
            ending = ("It was cancelled: what is known by now is being stored.",) if job and job.cancel else ()
            return Told(
                (*ending, *(standing.live.doing if standing.live else ("A worker has just taken it.",))), "busy"
            )
        case QuestionState.FAILED:
            return Told(_fault(question.error), "bad")
        case QuestionState.CANCELLED:
            return Told(
                ("It was cancelled. What was found until then is stored; trying again goes on from it.",), "plain"
            )
        case QuestionState.ANSWERED:
            return None


def _waiting(job: Job | None, standing: Standing) -> Iterator[str]:
    place = standing.place
    if place is None:
        yield "It waits for a worker."
    else:
        yield f"It waits for a worker, {place.position} of {place.of} in the queue, for {format_duration(place.age)}."
        if place.why:
            yield one_line(clean(f"{place.why[:1].upper()}{place.why[1:]}."), 400)
    if job is not None and job.error:
        yield from _fault(job.error)


def _fault(error: Mapping[str, Any] | None) -> tuple[str, ...]:
    if not error:
        return ("It ended without an answer, and nobody knows why.",)
    where = f" ({error['where']})" if error.get("where") else ""
    lines = [line for line in str(error.get("what", "")).splitlines() if line.strip()] or ["it ended without an answer"]
    return tuple(map(_sentence, (lines[0] + where, *lines[1:], str(error.get("advice") or ""))))


def _sentence(text: str) -> str:
    line = one_line(clean(text), 400)
    return f"{line[:1].upper()}{line[1:]}{'' if line.endswith(('.', ':', '!', '?', '…')) else '.'}" if line else ""


def _file(path: str, content: bytes) -> ShownFile:
    size = format_size(len(content))
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ShownFile(path, None, f"No text, {size}.")
    if len(text) > MOST_SHOWN:
        return ShownFile(path, None, f"Too long to be shown, {size}.")
    return ShownFile(path, clean(text))


def _job(job: Job) -> ShownJob:
    result = job.outcome or (str(job.error.get("what", "")) if job.error else "")
    return ShownJob(
        id=job.id,
        purpose=PURPOSES[job.purpose],
        chip=chips.of_job(job),
        queued=job.queued,
        took=took(job.started, job.ended),
        worker=(job.worker or "")[:8],
        result=one_line(clean(result), 120),
    )
