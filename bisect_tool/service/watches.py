"""Watches: open failures are looked at again when new builds come (docs/watches.md).

A question is watched while its answer has a failure that reaches the newest build. Whether it is to be asked again follows from
what lies in the database alone, so that a server that was killed in between leaves nothing undone and does nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from sqlalchemy import Row, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from bisect_tool.builds.build import Listing
from bisect_tool.errors import BisectError
from bisect_tool.runs.batch.since import COMMITS
from bisect_tool.service.job_rows import OPEN
from bisect_tool.service.question import Asker, Job, Purpose
from bisect_tool.service.queue import Queue
from bisect_tool.service.streams import CPU, Look, Stream, StreamKey, Streams
from bisect_tool.service.workers import lanes_alive
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import answers, jobs, questions, watch_choices

DAY = 86_400.0
WATCHER = Asker("watches")  # whose seconds the jobs count for: it comes after everybody who waits for an answer
PRIORITY = 10
LONGEST_PAUSE = 6 * 3600.0  # seconds between two looks at a channel that does not answer


@dataclass(frozen=True, slots=True)
class WatchRules:
    """How often a channel is looked at (`every` seconds, more or less by the share `jitter`; 0: never).

    `lasts`: how long an open failure is watched, in seconds since the first answer or the last one that said something new.
    """

    every: float = 1800.0
    jitter: float = 0.2
    lasts: float = 180 * DAY


@dataclass(frozen=True, slots=True)
class Watch:
    """Whether a question is watched. `chosen` is what somebody said about it, None: nobody did. `until` is a time or None."""

    question: str
    is_on: bool
    open: int
    chosen: bool | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Watched:
    """A watched question with the stream in which its next builds come.

    `asked`: when it was last asked for new builds, 0: never; `worked`: when it was last worked on, for whatever reason.
    """

    question: str
    key: StreamKey
    lane: str
    newest: str | None
    asked: float
    worked: float
    is_busy: bool

    def is_due(self, stream: Stream) -> bool:
        """Whether the stream has something that its answer has not seen."""
        if self.is_busy or stream.fresh is None or stream.fresh <= self.asked:
            return False
        return stream.newest != self.newest or (stream.replaced is not None and stream.replaced > self.worked)


@dataclass(frozen=True, slots=True)
class Watches:
    """The watches of a database. Every method raises what `Database` raises."""

    database: Database
    rules: WatchRules = WatchRules()

    def of(self, question: str) -> Watch:
        """Whether a question is watched. Raises `LookupError` without such a question."""
        rows = self.database.read(lambda connection: connection.execute(self._standing(question)).all())
        if not rows:
            raise LookupError(question)
        return self._watch(rows[0])

    def choose(self, question: str, *, is_watched: bool | None) -> Watch:
        """Watch a question as long as a failure is open, or never; None: as it is by itself. Raises `LookupError`."""
        table = watch_choices
        gone = delete(table).where(table.c.question == question)
        row = {"question": question, "is_watched": int(bool(is_watched)), "changed": self.database.now()}
        put = (postgresql if self.database.is_server else sqlite).insert(table).values(row)
        put = put.on_conflict_do_update(
            index_elements=["question"], set_={"is_watched": put.excluded.is_watched, "changed": put.excluded.changed}
        )
        self.of(question)
        self.database.write(lambda connection: connection.execute(gone if is_watched is None else put))
        return self.of(question)

    def watched(self) -> list[Watched]:
        """Every question that is watched now."""
        rows = self.database.read(lambda connection: connection.execute(self._standing()).all())
        return [_watched(row) for row in rows if self._watch(row).is_on and row.channel != COMMITS]

    def add_jobs(self, streams: Iterable[Stream]) -> list[Job]:
        """Have every watched question asked again for which one of the streams has something new; gives the jobs."""
        by_key = {stream.key: stream for stream in streams}
        alive = self.database.read(lambda connection: lanes_alive(self.database, connection))
        queue = Queue(self.database)
        return [
            queue.add(one.question, Purpose.WATCH, WATCHER, PRIORITY, one.lane)
            for one in self.watched()
            # Trials of another kind of device are no news about this one: it waits until such a worker is back.
            if one.key in by_key and one.lane in alive and one.is_due(by_key[one.key])
        ]

    def _watch(self, row: Row[Any]) -> Watch:
        chosen = None if row.is_watched is None else bool(row.is_watched)
        until = row.changed + self.rules.lasts if chosen is None and row.changed is not None else None
        is_on = bool(row.open) and chosen is not False and (until is None or until > row.now)
        return Watch(row.id, is_on, row.open or 0, chosen, until if row.open else None)

    def _standing(self, question: str | None = None) -> Any:
        """Questions with their present answers, what was chosen, and when the answer last said something new."""
        said = answers.alias()
        changed = (
            select(func.max(said.c.at))
            .where(said.c.question == questions.c.id, (said.c.told > 0) | said.c.before.is_(None))
            .scalar_subquery()
        )
        started = select(func.max(func.coalesce(jobs.c.started, jobs.c.queued))).where(
            jobs.c.question == questions.c.id
        )
        watched = started.where(jobs.c.purpose == Purpose.WATCH)
        busy = select(func.count()).where(jobs.c.question == questions.c.id, jobs.c.state.in_(OPEN))
        where = answers.join(questions, (answers.c.run == questions.c.run) & (answers.c.question == questions.c.id))
        query = (
            select(questions.c.id, questions.c.package, answers, watch_choices.c.is_watched, changed.label("changed"))
            .add_columns(started.scalar_subquery().label("started"), watched.scalar_subquery().label("asked"))
            .add_columns(busy.scalar_subquery().label("busy"))
            .add_columns(self.database.now().label("now"))
        )
        if question is None:
            query = query.select_from(where).where(answers.c.open > 0)
        else:
            left = questions.outerjoin(
                answers, (answers.c.run == questions.c.run) & (answers.c.question == questions.c.id)
            )
            query = query.select_from(left).where(questions.c.id == question)
        return query.outerjoin(watch_choices, watch_choices.c.question == questions.c.id).order_by(questions.c.id)


@dataclass(frozen=True, slots=True)
class Watching:
    """Looks at the streams of watched questions. `random` spreads the looks of several servers and packages."""

    watches: Watches
    streams: Streams
    look: Look
    random: Random

    def turn(self) -> list[Job]:
        """Look at what is due, then ask again what it concerns; gives the jobs. Raises what `Database` raises."""
        keys = {one.key for one in self.watches.watched()} if self.watches.rules.every else set()
        for stream in self.streams.due(keys):
            self._look(stream)
        return self.watches.add_jobs(self.streams.all().values()) if keys else []

    def _look(self, stream: Stream) -> None:
        rules = self.watches.rules
        spread = 1 + rules.jitter * (2 * self.random.random() - 1)
        try:
            listing = self.look.listing(stream.key)
        except (
            BisectError
        ) as error:  # of the channel: the page of builds shows it, and it is asked again, more and more rarely
            pause = min(rules.every * 2 ** (stream.faults + 1), max(LONGEST_PAUSE, rules.every))
            self.streams.failed(stream, str(error.what), pause * spread)
        else:
            seen = self.streams.take(stream, listing, rules.every * spread)
            self.streams.measured(stream, self._sizes(stream.key, listing, {*seen.new, *seen.replaced}))

    def _sizes(self, key: StreamKey, listing: Listing, new: set[str]) -> dict[str, int]:
        """The sizes of new builds that the listing does not tell; asked once, as far as somebody answers."""
        sizes: dict[str, int] = {}
        with suppress(BisectError):  # a size is only for the calendar: that one is missing shows there
            for build in listing.builds:
                if build.label in new and build.size is None and (size := self.look.size(key, build)) is not None:
                    sizes[build.label] = size
        return sizes


def _watched(row: Row[Any]) -> Watched:
    is_cpu = row.device == CPU
    key = StreamKey(row.package, row.channel, row.variant, CPU if is_cpu else "cuda", row.python)
    lane = CPU if is_cpu else f"cuda:{row.device}"
    return Watched(row.id, key, lane, row.newest, row.asked or 0.0, row.started or 0.0, bool(row.busy))
