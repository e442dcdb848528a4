"""Which jobs a worker may take, in the order of their ranks, and taking one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, exists, func, or_, select, update

from bisect_tool.service.event_log import add_events
from bisect_tool.service.job_rows import hold, job_at, job_of, open_jobs, settle
from bisect_tool.service.lanes import open_to
from bisect_tool.service.question import Job, JobState, Purpose
from bisect_tool.service.ranking import DAY, ranked
from bisect_tool.service.workers import lanes_alive
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import jobs, workers
from bisect_tool.store.tables import trials

CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Taken:
    """A job that a worker has taken; `lease` is of this taking alone.

    `forgotten`: trials that were stored up to this number do not count for it; None: all do.
    """

    job: Job
    lease: str
    forgotten: int | None = None


def candidates(database: Database, connection: Connection, worker: str, lanes: Sequence[str]) -> list[Job]:
    """The jobs that come next for a worker with these lanes: some, because others may take the first."""
    alive = {*lanes_alive(database, connection), *lanes}
    begun_here = jobs.c.host_lane.in_(lanes)
    is_free = or_(jobs.c.host_lane.is_(None), jobs.c.host_lane.not_in(alive))
    fits = or_(begun_here, and_(is_free, jobs.c.lane.in_(open_to(lanes, alive))))
    host = select(workers.c.host).where(workers.c.id == worker).scalar_subquery()
    suits = or_(jobs.c.avoid.is_(None), jobs.c.avoid != host, jobs.c.queued <= database.now() - DAY)
    other = jobs.alias()
    is_busy = exists().where(other.c.question == jobs.c.question, other.c.state == JobState.RUNNING)
    due = ranked(database, (jobs.c.not_before <= database.now(), fits, suits, ~is_busy))
    return [job_of(row) for row in connection.execute(due.limit(CANDIDATES))]


def take_it(database: Database, job: Job, worker: str, lease: str, span: float) -> Callable[[Connection], Taken | None]:
    """A transaction that gives the job to the worker; None when another one was faster."""
    now = database.now()
    values = {"state": JobState.RUNNING, "lease": lease, "worker": worker, "beat": now, "span": span}
    waits = update(jobs).where(jobs.c.id == job.id, jobs.c.state == JobState.WAITING, jobs.c.not_before <= now)

    def change(connection: Connection) -> Taken | None:
        hold(connection, job.question)
        if any(one.state is JobState.RUNNING for one in open_jobs(connection, job.question)):
            return None  # one at a time works on a question
        if connection.execute(waits.values(started=now, **values)).rowcount != 1:
            return None
        _forget_old_trials(connection, job_at(connection, job.id))
        settle(database, connection, job.question)
        body = {"worker": worker, "purpose": job.purpose, "attempt": job.attempts + 1}
        add_events(database, connection, job.question, job.id, [("job_started", body)])
        return taken_at(connection, job.id)

    return change


def taken_at(connection: Connection, number: int) -> Taken:
    """The job of that number, as it was taken last."""
    found = connection.execute(select(jobs.c.lease, jobs.c.forgotten).where(jobs.c.id == number)).one()
    return Taken(job_at(connection, number), str(found.lease), found.forgotten)


def _forget_old_trials(connection: Connection, job: Job) -> None:
    """For a job that asks afresh only what is stored from its first taking on counts, also when it is taken again."""
    if job.purpose in {Purpose.FRESH, Purpose.VERIFY}:
        newest = select(func.coalesce(func.max(trials.c.id), 0)).scalar_subquery()
        first = update(jobs).where(jobs.c.id == job.id, jobs.c.forgotten.is_(None))
        connection.execute(first.values(forgotten=newest))
