"""A database of the service whose clock is scripted, with questions that were answered as a test says."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Float, literal

from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing
from bisect_tool.errors import IndexUnreachable
from bisect_tool.reports.report import Report
from bisect_tool.service.question import Asker, Purpose, Submission
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue, Taken
from bisect_tool.service.streams import StreamKey
from bisect_tool.service.workers import Workers
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.database import Database, Patience, open_database
from bisect_tool.store.results import Results

NOON = datetime(2026, 1, 10, 12, tzinfo=UTC)
SPAN = 1e9  # nobody is silent for so long
LANES = ("cpu", "any")
SPEC = "name: {name}\npackage: toy\nchannel: nightly\ndevice: cpu\nscript: repro.py\n{more}"


@dataclass
class Hand:
    """The hand of a clock, in seconds since 1970."""

    at: float = NOON.timestamp()

    def move(self, **span: float) -> None:
        """Let time pass."""
        self.at += timedelta(**span).total_seconds()


@dataclass(frozen=True, slots=True)
class ClockedDatabase(Database):
    """A database whose clock is scripted."""

    hand: Hand = field(default_factory=Hand)

    def now(self) -> ColumnElement[float]:
        """The time of the hand."""
        return literal(self.hand.at, Float)


@dataclass
class Scene:
    """The database, its clock, and the workers `here` and `there` on two hosts."""

    database: ClockedDatabase
    questions: Questions = field(init=False)
    queue: Queue = field(init=False)
    worker: str = field(init=False)

    def __post_init__(self) -> None:
        self.questions, self.queue = Questions(self.database), Queue(self.database, SPAN)
        self.worker = Workers(self.database, SPAN).sign_on(LANES)

    @property
    def hand(self) -> Hand:
        """The hand of the clock."""
        return self.database.hand

    def ask(self, name: str = "one", more: str = "", script: str = "import toy\n", spec: str = SPEC) -> str:
        """Submit a question; gives its id."""
        submission = Submission(spec.format(name=name, more=more), (("repro.py", f"{script}# {name}\n".encode()),))
        return self.questions.submit(submission, Asker("somebody")).question.id

    def answered(self, report: Report, name: str = "one", more: str = "") -> str:
        """Submit a question and answer it; gives its id."""
        question = self.ask(name, more)
        self.finish(report)
        return question

    def take(self, purpose: Purpose | None = None) -> Taken:
        """Take the next job."""
        taken = self.queue.take(self.worker, LANES)
        assert taken is not None
        assert purpose is None or taken.job.purpose is purpose
        return taken

    def finish(self, report: Report, purpose: Purpose | None = None) -> str:
        """Take the next job and end it with a report; gives the run."""
        taken = self.take(purpose)
        run = self.keep(report)
        self.queue.finish(taken, run, report.outcome)
        return run

    def keep(self, report: Report) -> str:
        """Keep the report of a run; gives its id."""
        run, results = uuid.uuid4().hex, Results(self.database)
        results.start_run(run, spec=report.spec.name, repro=report.spec.digest, package=report.spec.package)
        results.end_run(run, report.outcome, report.model_dump(mode="json"))
        return run


@dataclass
class ScriptedChannel:
    """A stream that a test adds to: a build is a letter of content on a day of January 2026, `?` a day without one."""

    builds: dict[str, str] = field(default_factory=dict)
    looks: list[StreamKey] = field(default_factory=list)
    is_down: bool = False

    def size(self, key: StreamKey, build: Build) -> int | None:  # noqa: ARG002  as in every look
        """The listing tells it."""
        return build.size

    def listing(self, key: StreamKey) -> Listing:
        """The listing as it is now. Raises `IndexUnreachable`."""
        self.looks.append(key)
        if self.is_down:
            raise IndexUnreachable("the index does not answer", advice="wait")
        there = [_build(name, content) for name, content in self.builds.items() if content != "?"]
        missing = [
            LeftOut(name, _day(name), LeftOutBecause.MISSING) for name, content in self.builds.items() if content == "?"
        ]
        return Listing(tuple(there), tuple(missing), "the scripted channel", dated=True)

    def publish(self, contents: Sequence[str], first: int = 0) -> None:
        """Builds `1.first` and so on, a day each."""
        self.builds |= {f"1.{first + number}": content for number, content in enumerate(contents)}


@contextmanager
def scene(address: StoreAddress) -> Iterator[Scene]:
    """A scene in the database at `address`."""
    opened = open_database(address, nullcontext, Patience())
    try:
        yield Scene(ClockedDatabase(opened.engine, opened.address, opened.patience))
    finally:
        opened.close()


def _build(name: str, content: str) -> Build:
    return Build("toy", name, f"toy-{name}.whl", "nowhere", date=_day(name), sha256=content * 64, size=1000)


def _day(name: str) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=int(name.partition(".")[2]))
