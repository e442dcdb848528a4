"""Jobs and questions as they lie in their tables, and the one rule by which the state of a question follows from its jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Connection, Row, case, func, insert, select, update

from bisect_tool.service.event_log import add_events, prune_events
from bisect_tool.service.question import ANSWERING, Asker, Job, JobState, Purpose, Question, QuestionState
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import jobs, questions

OPEN = (JobState.WAITING, JobState.RUNNING)
QUESTIONS = select(*(questions.c[field.name] for field in fields(Question)))
_OF_JOB = tuple(field.name for field in fields(Job))
JOBS = select(*(jobs.c[name] for name in _OF_JOB))


def question_of(row: Row[Any]) -> Question:
    """The question in a row of `QUESTIONS`."""
    values = dict(row._mapping)  # noqa: SLF001  the public name of it
    return Question(**{**values, "state": QuestionState(values["state"])})


def job_of(row: Row[Any]) -> Job:
    """The job in a row of `JOBS`, or of more columns."""
    values = {name: row._mapping[name] for name in _OF_JOB}  # noqa: SLF001  the public name of it
    typed = {
        "purpose": Purpose(values["purpose"]),
        "state": JobState(values["state"]),
        "cancel": bool(values["cancel"]),
    }
    return Job(**{**values, **typed})


def hold(connection: Connection, question: str) -> bool:
    """Keep everybody else from changing the jobs of a question until the transaction ends; False without such a question.

    It must be the first statement: with SQLite it begins the transaction, and what is read after it is not old.
    """
    same = update(questions).where(questions.c.id == question).values(state=questions.c.state)
    return connection.execute(same).rowcount == 1


def open_jobs(connection: Connection, question: str) -> list[Job]:
    """The jobs of a question that have not ended, in the order in which they came."""
    query = JOBS.where(jobs.c.question == question, jobs.c.state.in_(OPEN)).order_by(jobs.c.id)
    return [job_of(row) for row in connection.execute(query)]


def job_at(connection: Connection, number: int) -> Job:
    """The job of that number."""
    return job_of(connection.execute(JOBS.where(jobs.c.id == number)).one())


@dataclass(frozen=True, slots=True)
class Work:
    """What is wanted of a job that is added: `priority` as in `PRIORITIES`, `lane` as in `bisect_tool.service.lanes`.

    `avoid`: a host that is not to do it within a day.
    """

    purpose: Purpose
    asker: Asker
    priority: int
    lane: str
    avoid: str | None = None


def add_job(database: Database, connection: Connection, question: str, work: Work) -> Job:
    """Add a job to a question that is held; one that is open already for the same purpose is given instead."""
    same = ANSWERING if work.purpose in ANSWERING else (work.purpose,)
    for job in open_jobs(connection, question):
        if job.purpose in same and not job.cancel:
            return _made_fresh(connection, job) if work.purpose is Purpose.FRESH else job
    row = {
        "question": question, "purpose": work.purpose, "state": JobState.WAITING, "priority": work.priority,
        "lane": work.lane, "avoid": work.avoid, "owner": work.asker.name, "seconds_a_day": work.asker.seconds_a_day,
        "used": 0.0, "queued": database.now(), "not_before": database.now(), "attempts": 0, "cancel": 0,
    }  # fmt: skip
    number = connection.execute(insert(jobs).values(row)).inserted_primary_key[0]  # type: ignore[index]
    settle(database, connection, question)
    body = {"purpose": work.purpose, "priority": work.priority, "lane": work.lane}
    add_events(database, connection, question, number, [("job_queued", body)])
    return job_at(connection, number)


def _made_fresh(connection: Connection, job: Job) -> Job:
    """A job that waits answers without stored trials from now on; one that runs goes on as it is."""
    if job.state is JobState.WAITING:
        connection.execute(update(jobs).where(jobs.c.id == job.id).values(purpose=Purpose.FRESH))
    return job_at(connection, job.id)


def end_job(
    database: Database, connection: Connection, job: Job, state: JobState, values: Mapping[str, Any] | None = None
) -> None:
    """End a job of a question that is held; `values` are columns of it."""
    ended = update(jobs).where(jobs.c.id == job.id)
    connection.execute(ended.values(state=state, ended=database.now(), used=seconds_used(), **(values or {})))
    settle(database, connection, job.question)
    now = job_at(connection, job.id)
    body = {"state": state, "outcome": now.outcome, "run": now.run, "error": now.error}
    add_events(database, connection, job.question, job.id, [("job_ended", body)])
    prune_events(connection, job.question)


def seconds_used() -> Any:
    """What a job has used up of its owner's budget, in seconds, up to its last sign of life."""
    return jobs.c.used + case((jobs.c.state == JobState.RUNNING, jobs.c.beat - jobs.c.started), else_=0.0)


@dataclass(frozen=True, slots=True)
class _Standing:
    state: QuestionState
    outcome: str | None
    run: str | None
    error: Mapping[str, Any] | None


def standing(of: Sequence[Job]) -> _Standing:
    """How a question stands by its jobs.

    Work that answers it decides: open work first; else the last that came to an end by itself; else it was cancelled. The
    answer is the report of the last job that was done, or what the last one left that was not, or is not yet.
    """
    answering = [job for job in of if job.purpose in ANSWERING]
    ended = sorted((job for job in of if job.ended is not None), key=lambda job: (job.ended or 0.0, job.id))
    waiting = [job for job in of if job.ended is None]
    with_report = [job for job in (*ended, *waiting) if job.run is not None and job.purpose is not Purpose.VERIFY]
    done = [job for job in with_report if job.state is JobState.DONE] or with_report
    run, outcome = (done[-1].run, done[-1].outcome) if done else (None, None)
    last = [job for job in ended if job in answering and job.state is not JobState.CANCELLED]
    error = last[-1].error if last and last[-1].state is JobState.FAILED else None
    return _Standing(_state(answering, last), outcome, run, error)


def _state(answering: Sequence[Job], last: Sequence[Job]) -> QuestionState:
    states = {job.state for job in answering}
    if JobState.RUNNING in states:
        return QuestionState.RUNNING
    if JobState.WAITING in states:
        return QuestionState.QUEUED
    if not last:
        return QuestionState.CANCELLED
    return QuestionState.ANSWERED if last[-1].state is JobState.DONE else QuestionState.FAILED


def settle(database: Database, connection: Connection, question: str) -> None:
    """Write down how a question that is held stands, by all its jobs."""
    rows = connection.execute(JOBS.where(jobs.c.question == question).order_by(jobs.c.id))
    now = standing([job_of(row) for row in rows])
    values = {"state": now.state, "outcome": now.outcome, "run": now.run, "error": now.error}
    connection.execute(update(questions).where(questions.c.id == question).values(changed=database.now(), **values))


def count_open(connection: Connection) -> int:
    """How many jobs have not ended."""
    return int(connection.execute(select(func.count()).where(jobs.c.state.in_(OPEN))).scalar_one())
