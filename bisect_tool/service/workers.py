"""The workers that there are, as they say of themselves."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, delete, insert, select, update

from bisect_tool.store.database import Database
from bisect_tool.store.hosts import host_name
from bisect_tool.store.service_tables import workers

FORGOTTEN = 86_400.0  # seconds after its last sign of life


class WorkerState(StrEnum):
    """What a worker does. A `DRAINING` one takes no new job, a `GONE` one has said goodbye."""

    IDLE = "idle"
    BUSY = "busy"
    DRAINING = "draining"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class WorkerSeen:
    """A worker; `about` is the question that it works on, `done` how many jobs it has ended; `silent` is in seconds."""

    id: str
    host: str
    pid: int
    lanes: tuple[str, ...]
    state: WorkerState
    about: str
    done: int
    started: float
    silent: float
    is_alive: bool


@dataclass(frozen=True, slots=True)
class Workers:
    """The list of workers. `span` is how many seconds after its last sign of life a worker counts as dead."""

    database: Database
    span: float

    def sign_on(self, lanes: Sequence[str]) -> str:
        """Enter a worker; gives its id. Those that have been dead for a day are forgotten."""
        number, now = uuid.uuid4().hex, self.database.now()
        row = {"id": number, "host": host_name(), "pid": os.getpid(), "lanes": list(lanes), "state": WorkerState.IDLE}
        more = {"about": "", "done": 0, "started": now, "beat": now, "span": self.span}

        def change(connection: Connection) -> str:
            connection.execute(delete(workers).where(workers.c.beat < now - FORGOTTEN))
            connection.execute(insert(workers).values(**row, **more))
            return number

        def was_done(connection: Connection) -> str | None:
            return connection.execute(select(workers.c.id).where(workers.c.id == number)).scalar()

        return self.database.write(change, was_done=was_done)

    def tell(self, worker: str, state: WorkerState, about: str = "", done: int = 0) -> None:
        """What a worker does; a sign of life as well. `done` jobs are added."""
        values = {"state": state, "about": about, "done": workers.c.done + done, "beat": self.database.now()}
        self.database.write(
            lambda connection: connection.execute(update(workers).where(workers.c.id == worker).values(values))
        )

    def seen(self) -> list[WorkerSeen]:
        """All workers, those that started last first."""
        silent = self.database.now() - workers.c.beat
        columns = (workers.c[name] for name in ("id", "host", "pid", "lanes", "state", "about", "done", "started"))
        alive = (silent < workers.c.span) & (workers.c.state != WorkerState.GONE)
        query = select(*columns, silent, alive).order_by(workers.c.started.desc(), workers.c.id)
        return [
            WorkerSeen(row[0], row[1], row[2], tuple(row[3]), WorkerState(row[4]), *row[5:9], is_alive=bool(row[9]))
            for row in self.database.read(lambda connection: connection.execute(query).all())
        ]


def lanes_alive(database: Database, connection: Connection) -> frozenset[str]:
    """The lanes of all workers that live and take jobs."""
    lives = workers.c.beat + workers.c.span > database.now()
    takes = workers.c.state.in_((WorkerState.IDLE, WorkerState.BUSY))
    rows = connection.execute(select(workers.c.lanes).where(lives, takes))
    return frozenset(lane for row in rows for lane in row.lanes)
