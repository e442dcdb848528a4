"""What happened during the work on questions, numbered: whoever has read up to an event misses none that comes later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text

from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import job_events, jobs

KEPT = 500  # events of a question on which nobody works any more
_TURN = 0x6269736563745F65  # the lock of PostgreSQL under which events are numbered


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One event; `kind` is the name of a class of `bisect_tool.reports.events` in snake case, `body` its fields."""

    id: int
    question: str
    job: int
    at: float
    kind: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EventLog:
    """The events of all questions. Every method raises what `Database` raises."""

    database: Database

    def add(self, question: str, job: int, events: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Store events, in their order."""
        if events:
            self.database.write(lambda connection: add_events(self.database, connection, question, job, events))

    def after(self, last: int, question: str | None = None, most: int = 500) -> list[StoredEvent]:
        """The first `most` events that came after the event `last`, of one question or of all."""
        query = select(job_events).where(job_events.c.id > last).order_by(job_events.c.id).limit(most)
        if question is not None:
            query = query.where(job_events.c.question == question)
        return self.database.read(lambda connection: [StoredEvent(*row) for row in connection.execute(query)])

    def newest(self) -> int:
        """The number of the last event; 0 without one."""
        query = select(func.max(job_events.c.id))
        return int(self.database.read(lambda connection: connection.execute(query).scalar()) or 0)

    def prune(self, question: str, kept: int = KEPT) -> None:
        """Forget all but the last events of a question, unless somebody works on it."""
        self.database.write(lambda connection: prune_events(connection, question, kept))


def add_events(
    database: Database, connection: Connection, question: str, job: int, events: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    """Store events within a transaction, as its last statement.

    Transactions of a server may end in another order than they took their numbers: whoever reads in between would miss the
    smaller one. So one at a time takes numbers, until it ends. SQLite has one writer anyway.
    """
    if database.is_server:
        connection.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": _TURN})
    rows = [{"question": question, "job": job, "kind": kind, "body": dict(body)} for kind, body in events]
    connection.execute(insert(job_events).values(at=database.now()), rows)


def prune_events(connection: Connection, question: str, kept: int = KEPT) -> None:
    """The same as `EventLog.prune`, within a transaction."""
    busy = select(jobs.c.id).where(jobs.c.question == question, jobs.c.ended.is_(None)).exists()
    last = select(job_events.c.id).where(job_events.c.question == question)
    oldest = last.order_by(job_events.c.id.desc()).offset(kept - 1).limit(1).scalar_subquery()
    connection.execute(delete(job_events).where(job_events.c.question == question, job_events.c.id < oldest, ~busy))
