"""Leases: who works on what, where several hosts share a database, so that no two of them do the same work.

A lease is a row. Its owner beats while it works, by the clock of the database, so that a host whose own clock jumps is no
different from any other. A lease that has not beaten for its span is taken over by whoever wants the work next: its owner is
dead, or cannot be reached. An owner that comes back finds that out before anything of it is stored (`keep`).
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from bisect_tool.errors import BisectError
from bisect_tool.stopping import Stop
from bisect_tool.store import tables
from bisect_tool.store.database import Database
from bisect_tool.store.hosts import host_name

SPAN = 180.0  # seconds without a sign of life after which work is taken over: more than a server may be gone for
BEATS = 6  # in one span
PATIENCE = 1.0  # seconds between two attempts at a lease that another one holds


class LeaseLost(Exception):
    """Another host has taken the work over: what is done under this lease does not count."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease that was taken: `key` says on what, `owner` is of this one taking alone."""

    key: str
    owner: str


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lease; `silent` is how many seconds ago it beat for the last time, by the clock of the database."""

    host: str
    pid: int
    about: str
    silent: float

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def keep(connection: Connection, lease: Lease, now: ColumnElement[float]) -> None:
    """Beat, within a transaction: until its end nobody can take the lease over.

    Raises `LeaseLost`.
    """
    table = tables.leases
    beat = update(table).where(table.c.key == lease.key, table.c.owner == lease.owner).values(beat=now)
    if connection.execute(beat).rowcount != 1:
        raise LeaseLost(lease.key)


class LeaseKeeper:
    """Takes leases for one process, and keeps them by a thread that beats. `span` is in seconds, None: the usual one."""

    def __init__(self, database: Database, span: float | None = None) -> None:
        self._database = database
        self._span = span or SPAN
        self._held: dict[str, Lease] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, key: str, about: str) -> Lease | None:
        """Take the lease on `key`, also from an owner that has been silent for too long; None when another one holds it."""
        lease = Lease(key, uuid.uuid4().hex)
        now, table = self._database.now(), tables.leases
        dialect = postgresql if self._database.is_server else sqlite
        row = {"owner": lease.owner, "host": host_name(), "pid": os.getpid(), "about": about, "span": self._span}
        taken = dialect.insert(table).values(key=key, taken=now, beat=now, **row)
        taken = taken.on_conflict_do_update(
            index_elements=["key"],
            set_={**row, "taken": now, "beat": now},
            where=table.c.beat + table.c.span < now,
        )
        owner = select(table.c.owner).where(table.c.key == key)

        def ours(connection: Connection) -> bool:
            return connection.execute(owner).scalar() == lease.owner

        def try_it(connection: Connection) -> bool:
            connection.execute(taken)
            return ours(connection)

        if not self._database.write(try_it, was_done=lambda connection: ours(connection) or None):
            return None
        self._keep_alive(lease)
        return lease

    def holder(self, key: str) -> Holder | None:
        """Who holds the lease on `key` now."""
        table = tables.leases
        query = select(table.c.host, table.c.pid, table.c.about, self._database.now() - table.c.beat)
        query = query.where(table.c.key == key)
        found = self._database.read(lambda connection: connection.execute(query).first())
        return None if found is None else Holder(*found)

    @contextmanager
    def held(self, key: str, about: str, waiting: Callable[[str], None], stop: Stop) -> Iterator[Lease]:
        """Hold the lease on `key`; `waiting` is told once who holds it if it is not free at once, and `stop` ends the wait.

        Raises `Cancelled`, and what `Database` raises.
        """
        lease = self.take(key, about)
        if lease is None:
            waiting(str(self.holder(key) or "another host"))
        while lease is None:
            stop.sleep(PATIENCE)
            lease = self.take(key, about)
        try:
            yield lease
        finally:
            self.release(lease)

    def release(self, lease: Lease) -> None:
        """Let go of a lease. One that the database does not hear of ends by itself, after its span."""
        with self._lock:
            self._held.pop(lease.owner, None)
        table = tables.leases
        gone = delete(table).where(table.c.key == lease.key, table.c.owner == lease.owner)
        for _ in range(2):  # once more where the connection from the pool was dead already
            with suppress(SQLAlchemyError), self._database.engine.begin() as connection:
                connection.execute(gone)
                return

    def beat(self) -> None:
        """Beat for everything that is held; what was taken over is held no more. Raises `DBAPIError` when nobody hears it."""
        with self._lock:
            held = list(self._held.values())
        for lease in held:
            try:
                with self._database.engine.begin() as connection:
                    keep(connection, lease, self._database.now())
            except LeaseLost:
                with self._lock:
                    self._held.pop(lease.owner, None)

    def close(self) -> None:
        """Let go of everything."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(timeout=self._span)
        for lease in list(self._held.values()):
            self.release(lease)

    def _keep_alive(self, lease: Lease) -> None:
        with self._lock:
            self._held[lease.owner] = lease
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat_on, name="leases", daemon=True)
                self._thread.start()

    def _beat_on(self) -> None:
        # Event.wait goes by the monotonic clock, which does not jump. A server that is gone hears nothing; whoever asks it
        # for something says so, and a lease that was lost in the meantime is noticed by `keep`.
        while not self._over.wait(self._span / BEATS):
            with suppress(SQLAlchemyError, BisectError):
                self.beat()
