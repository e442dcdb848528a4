"""The queue and the workers as their page shows them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bisect_tool.quantities import format_duration
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.service.pages.chips import Chip
from bisect_tool.service.pages.question_page import PURPOSES
from bisect_tool.service.places import Place
from bisect_tool.service.question import Job, QuestionState
from bisect_tool.service.workers import WorkerSeen, WorkerState

MOST_WAITING = 200
_STATES = {
    WorkerState.IDLE: Chip("○", "idle", "plain"),
    WorkerState.BUSY: Chip("▸", "busy", "busy"),
    WorkerState.DRAINING: Chip("–", "draining", "unsure"),
    WorkerState.GONE: Chip("·", "gone", "plain"),
}
_SILENT = Chip("!", "silent", "bad")


@dataclass(frozen=True, slots=True)
class RunningRow:
    """A job at work; `doing` says that it is to end, or which attempt it is."""

    question: str
    title: str
    purpose: str
    worker: str
    since: str
    doing: str


@dataclass(frozen=True, slots=True)
class WaitingRow:
    """A job that waits; `why` it is not at work, where it is not just its turn."""

    place: int
    question: str
    title: str
    purpose: str
    lane: str
    owner: str
    priority: int
    age: str
    why: str


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker; `about` is the id of the question that it works on, `title` what that is called."""

    name: str
    chip: Chip
    about: str
    title: str
    lanes: str
    done: int
    beat: float


@dataclass(frozen=True, slots=True)
class QueuePage:
    """What the page shows; `more` jobs wait further behind."""

    figures: tuple[tuple[str, str], ...]
    running: tuple[RunningRow, ...]
    waiting: tuple[WaitingRow, ...]
    more: int
    workers: tuple[WorkerRow, ...]


@dataclass(frozen=True, slots=True)
class Works:
    """What the page is made of; `titles` are those of the questions, by id."""

    counts: Mapping[QuestionState, int]
    running: Sequence[Job]
    places: Sequence[Place]
    workers: Sequence[WorkerSeen]
    titles: Mapping[str, str]
    now: float


def queue_page(works: Works) -> QueuePage:
    """The page."""
    hosts = {worker.id: _named(worker) for worker in works.workers}
    return QueuePage(
        figures=_figures(works),
        running=tuple(_running(job, works, hosts) for job in works.running),
        waiting=tuple(_waiting(place, works) for place in works.places[:MOST_WAITING]),
        more=max(0, len(works.places) - MOST_WAITING),
        workers=tuple(_worker(worker, works) for worker in works.workers),
    )


def _figures(works: Works) -> tuple[tuple[str, str], ...]:
    alive = sum(worker.is_alive for worker in works.workers)
    oldest = max((place.age for place in works.places), default=0.0)
    return (
        ("jobs running", str(len(works.running))),
        ("jobs waiting", str(len(works.places))),
        ("longest wait", format_duration(oldest) if works.places else "–"),
        ("workers alive", str(alive)),
        ("questions answered", str(works.counts.get(QuestionState.ANSWERED, 0))),
    )


def _running(job: Job, works: Works, hosts: Mapping[str, str]) -> RunningRow:
    again = f"attempt {job.attempts + 1}" if job.attempts else ""
    return RunningRow(
        question=job.question,
        title=_title(job.question, works),
        purpose=PURPOSES[job.purpose],
        worker=hosts.get(job.worker or "", (job.worker or "")[:8]),
        since=format_duration(max(0.0, works.now - job.started)) if job.started is not None else "",
        doing="is being cancelled" if job.cancel else again,
    )


def _waiting(place: Place, works: Works) -> WaitingRow:
    job = place.job
    return WaitingRow(
        place=place.position,
        question=job.question,
        title=_title(job.question, works),
        purpose=PURPOSES[job.purpose],
        lane=job.lane,
        owner=job.owner,
        priority=job.priority,
        age=format_duration(place.age),
        why=one_line(clean(place.why), 300),
    )


def _worker(worker: WorkerSeen, works: Works) -> WorkerRow:
    is_silent = not worker.is_alive and worker.state is not WorkerState.GONE
    return WorkerRow(
        name=_named(worker),
        chip=_SILENT if is_silent else _STATES[worker.state],
        about=worker.about if worker.about in works.titles else "",
        title=_title(worker.about, works) if worker.about else "",
        lanes=", ".join(worker.lanes),
        done=worker.done,
        beat=works.now - worker.silent,
    )


def _named(worker: WorkerSeen) -> str:
    return f"{worker.host}, process {worker.pid}"


def _title(question: str, works: Works) -> str:
    return one_line(clean(works.titles.get(question, question)), 120)
