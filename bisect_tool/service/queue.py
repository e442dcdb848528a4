"""The queue: who works on which question next, and what becomes of work whose worker is gone (docs/service-queue.md)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, update

from bisect_tool.service.event_log import add_events
from bisect_tool.service.job_rows import (
    JOBS,
    Work,
    add_job,
    end_job,
    hold,
    job_at,
    job_of,
    open_jobs,
    seconds_used,
    settle,
)
from bisect_tool.service.news import News
from bisect_tool.service.places import Place, places
from bisect_tool.service.question import USUAL_PRIORITY, Asker, Job, JobState, Purpose, fault_values
from bisect_tool.service.retrying import MOST_ATTEMPTS, given_up, is_passing, pause_after
from bisect_tool.service.taking import Taken, candidates, take_it, taken_at
from bisect_tool.store.database import Database
from bisect_tool.store.leases import SPAN
from bisect_tool.store.service_tables import jobs

__all__ = ["LOST", "JobLost", "Queue", "Taken"]

LOST = fault_values(
    "the worker gave no sign of life any more",
    "look at the log of the worker: it was killed, or cannot reach the database",
    26,
)


class JobLost(Exception):
    """The job was given to another worker, or has ended: what is done on it does not count any more."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue; a job whose worker gives no sign of life for `span` seconds is given to another one.

    Every method raises what `Database` raises.
    """

    database: Database
    span: float = SPAN

    def add(
        self, question: str, purpose: Purpose, asker: Asker, priority: int = USUAL_PRIORITY, lane: str = "any"
    ) -> Job:
        """Have somebody work on a question; where that is so already for this purpose, that job is given.

        Raises `LookupError` without such a question.
        """

        def change(connection: Connection) -> Job:
            if not hold(connection, question):
                raise LookupError(question)
            return add_job(self.database, connection, question, Work(purpose, asker, priority, lane))

        return self.database.write(change)

    def take(self, worker: str, lanes: Sequence[str]) -> Taken | None:
        """Take the job that is next for a worker with these lanes; None without one."""
        self.sweep()
        lease = uuid.uuid4().hex

        def ours(connection: Connection) -> Taken | None:
            number = connection.execute(select(jobs.c.id).where(jobs.c.lease == lease)).scalar()
            return None if number is None else taken_at(connection, number)

        for job in self.database.read(lambda connection: candidates(self.database, connection, worker, lanes)):
            taking = take_it(self.database, job, worker, lease, self.span)
            if (taken := self.database.write(taking, was_done=ours)) is not None:
                return taken
        return None

    def beat(self, taken: Taken) -> bool:
        """Give a sign of life; True when the job is to end. Raises `JobLost`."""
        return self.tell(taken, ())

    def look(self, taken: Taken) -> bool:
        """Whether the job is to end; costs less than a sign of life, and is none. Raises `JobLost`."""
        columns = select(jobs.c.cancel, jobs.c.lease, jobs.c.state).where(jobs.c.id == taken.job.id)
        row = self.database.read(lambda connection: connection.execute(columns).first())
        if row is None or (row.lease, row.state) != (taken.lease, JobState.RUNNING):
            raise JobLost(taken.job.question)
        return bool(row.cancel)

    def tell(self, taken: Taken, news: Sequence[News]) -> bool:
        """Store events of a job, as a sign of life: see `beat`. Raises `JobLost`."""

        def change(connection: Connection) -> bool:
            self._hold(connection, taken, beat=self.database.now())
            is_cancelled = job_at(connection, taken.job.id).cancel
            if news:
                add_events(self.database, connection, taken.job.question, taken.job.id, news)
            return is_cancelled

        return self.database.write(change)

    def got_on(self, taken: Taken, host_lane: str) -> None:
        """A new trial was made in the lane of this kind of host: faults before it do not count. Raises `JobLost`."""
        self.database.write(lambda connection: self._hold(connection, taken, attempts=0, host_lane=host_lane))

    def finish(self, taken: Taken, run: str, outcome: str) -> None:
        """The question is answered by `run`; what that makes useless is cancelled. Raises `JobLost`."""

        def change(connection: Connection) -> None:
            self._end(connection, taken, JobState.DONE, {"run": run, "outcome": outcome, "error": None})
            if taken.job.purpose is not Purpose.VERIFY:
                self._cancel_overtaken(connection, taken.job)

        self._ending(change, taken)

    def cancelled(self, taken: Taken, run: str | None = None, outcome: str | None = None) -> None:
        """The job was ended because somebody wanted that; `run` tells what was known. Raises `JobLost`."""
        values = {"run": run, "outcome": outcome}
        self._ending(lambda connection: self._end(connection, taken, JobState.CANCELLED, values), taken)

    def fail(self, taken: Taken, error: Mapping[str, Any], run: str | None = None, outcome: str | None = None) -> None:
        """An error (`fault_values`) ended the job: it is tried again later if it is one of the machine. Raises `JobLost`."""

        def change(connection: Connection) -> None:
            job = self._held(connection, taken)
            if job.cancel:
                self._end(connection, taken, JobState.CANCELLED, {"run": run, "outcome": outcome, "error": dict(error)})
            elif is_passing(error) and job.attempts + 1 < MOST_ATTEMPTS:
                self._wait_again(connection, job, error, pause_after(job.attempts + 1), run, outcome)
            else:
                last = given_up(error, job.attempts + 1) if is_passing(error) else dict(error)
                self._end(connection, taken, JobState.FAILED, {"run": run, "outcome": outcome, "error": last})

        self._ending(change, taken)

    def give_back(self, taken: Taken, run: str | None = None, outcome: str | None = None) -> None:
        """Let another worker go on with it, at once: this one stops; `run` tells what was known. Raises `JobLost`."""

        def change(connection: Connection) -> None:
            job = self._held(connection, taken)
            if job.cancel:
                self._end(connection, taken, JobState.CANCELLED, {"run": run, "outcome": outcome})
            else:
                self._wait_again(connection, job, None, 0.0, run, outcome)

        self._ending(change, taken)

    def waiting(self) -> list[Place]:
        """Every job that waits, in the order in which they are taken, with what it waits for."""
        return self.database.read(lambda connection: places(self.database, connection))

    def sweep(self) -> None:
        """Have the jobs wait again whose worker is gone."""
        silent = jobs.c.beat + jobs.c.span < self.database.now()
        query = JOBS.where(jobs.c.state == JobState.RUNNING, silent).order_by(jobs.c.id)
        for row in self.database.read(lambda connection: connection.execute(query).all()):
            self._bury(job_of(row), silent)

    def cancel(self, question: str) -> None:
        """End all work on a question: what waits at once, what runs as soon as its worker hears of it."""

        def change(connection: Connection) -> None:
            if hold(connection, question):
                for job in open_jobs(connection, question):
                    self._cancel(connection, job)

        self.database.write(change)

    def _hold(self, connection: Connection, taken: Taken, **values: Any) -> None:
        """Change columns of a job that is still ours. Raises `JobLost`."""
        ours = (jobs.c.id == taken.job.id, jobs.c.lease == taken.lease, jobs.c.state == JobState.RUNNING)
        if connection.execute(update(jobs).where(*ours).values(**values)).rowcount != 1:
            raise JobLost(taken.job.question)

    def _held(self, connection: Connection, taken: Taken) -> Job:
        """The job as it is now, with its question held. Raises `JobLost`."""
        hold(connection, taken.job.question)
        self._hold(connection, taken, beat=self.database.now())
        return job_at(connection, taken.job.id)

    def _end(self, connection: Connection, taken: Taken, state: JobState, values: Mapping[str, Any]) -> None:
        end_job(self.database, connection, self._held(connection, taken), state, values)

    def _ending(self, change: Callable[[Connection], None], taken: Taken) -> None:
        """A change that takes the job from its worker, once: also when the answer of the database was lost on its way."""

        def was_done(connection: Connection) -> bool | None:
            query = select(jobs.c.state).where(jobs.c.id == taken.job.id, jobs.c.lease == taken.lease)
            return connection.execute(query).scalar() not in {None, JobState.RUNNING} or None

        def once(connection: Connection) -> bool:
            change(connection)
            return True

        self.database.write(once, was_done=was_done)

    def _wait_again(
        self,
        connection: Connection,
        job: Job,
        error: Mapping[str, Any] | None,
        pause: float,
        run: str | None = None,
        outcome: str | None = None,
    ) -> None:
        """Let a running job of a question that is held wait; an `error` counts as an attempt, `run` tells what was known."""
        known = {"run": run, "outcome": outcome} if run is not None else {}
        later = {"state": JobState.WAITING, "not_before": self.database.now() + pause, "used": seconds_used()}
        attempts = job.attempts + (error is not None)
        again = update(jobs).where(jobs.c.id == job.id)
        connection.execute(again.values(attempts=attempts, error=error, worker=None, **later, **known))
        settle(self.database, connection, job.question)
        body = {"purpose": job.purpose, "priority": job.priority, "lane": job.lane, "pause": pause, "error": error}
        add_events(self.database, connection, job.question, job.id, [("job_queued", body)])

    def _bury(self, seen: Job, silent: ColumnElement[bool]) -> None:
        def change(connection: Connection) -> None:
            hold(connection, seen.question)
            still = update(jobs).where(jobs.c.id == seen.id, jobs.c.state == JobState.RUNNING, silent)
            if connection.execute(still.values(beat=jobs.c.beat)).rowcount != 1:
                return  # it was given away, or has given a sign of life; from now on it cannot until this ends
            job = job_at(connection, seen.id)
            if job.cancel:
                end_job(self.database, connection, job, JobState.CANCELLED)
            elif job.attempts + 1 < MOST_ATTEMPTS:
                self._wait_again(connection, job, LOST, 0.0)  # its span was a pause already
            else:
                error = given_up(LOST, job.attempts + 1)
                end_job(self.database, connection, job, JobState.FAILED, {"error": error})

        self.database.write(change)

    def _cancel(self, connection: Connection, job: Job) -> None:
        """End a job of a question that is held, or have its worker end it."""
        if job.state is JobState.WAITING:
            end_job(self.database, connection, job, JobState.CANCELLED)
        else:
            connection.execute(update(jobs).where(jobs.c.id == job.id).values(cancel=1))

    def _cancel_overtaken(self, connection: Connection, by: Job) -> None:
        """Nobody needs an old answer found again, or new builds looked at, of which there is a newer answer."""
        for job in open_jobs(connection, by.question):
            if job.purpose in {Purpose.WATCH, Purpose.VERIFY} and job.queued <= (by.started or by.queued):
                self._cancel(connection, job)
