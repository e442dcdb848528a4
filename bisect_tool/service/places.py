"""Where each job stands in the queue, and what it waits for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from bisect_tool.service.job_rows import job_of
from bisect_tool.service.question import Job, JobState
from bisect_tool.service.ranking import DAY, ranked
from bisect_tool.service.workers import lanes_alive
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import jobs


@dataclass(frozen=True, slots=True)
class Place:
    """A job that waits: `position` from 1, `age` in seconds since it was queued, `why` it is not at work, if not its turn."""

    position: int
    job: Job
    age: float
    why: str


def places(database: Database, connection: Connection) -> list[Place]:
    """Every job that waits, the next one first."""
    alive = lanes_alive(database, connection)
    busy = set(connection.execute(select(jobs.c.question).where(jobs.c.state == JobState.RUNNING)).scalars())
    later = (jobs.c.not_before - database.now()).label("later")
    rows = connection.execute(ranked(database).add_columns(later)).all()
    return [
        Place(number, job_of(row), max(row.age, 0.0), "; ".join(_reasons(row, alive, busy)))
        for number, row in enumerate(rows, start=1)
    ]


def _reasons(row: Row[Any], alive: Collection[str], busy: Collection[str]) -> Iterator[str]:
    if row.question in busy:
        yield "other work on this question goes first"
    if row.later > 0:
        yield f"tried again in {row.later:.0f} s: {row.error['what']}" if row.error else f"in {row.later:.0f} s"
    if row.is_over:
        yield (
            f"{row.owner or 'whoever asks without a name'} has used {row.spent:.0f} s of workers since yesterday, of "
            f"{row.seconds_a_day:.0f} s a day: others go first, for a day"
        )
    if row.avoid is not None and row.age < DAY:
        yield "another host than that of the first answer is to do it, or any after a day"
    if row.host_lane not in alive and row.lane not in alive:
        yield f"no worker for the lane {row.lane} is there"
