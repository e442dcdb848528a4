"""The questions of the service: asked once by content, found again, cancelled, tried again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, and_, func, insert, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from bisect_tool.service.job_rows import JOBS, QUESTIONS, Work, add_job, hold, job_of, open_jobs, question_of
from bisect_tool.service.lanes import lane_of
from bisect_tool.service.question import (
    PRIORITIES,
    USUAL_PRIORITY,
    Asker,
    Filter,
    Found,
    Job,
    Purpose,
    Question,
    QuestionState,
    Submission,
    Submitted,
)
from bisect_tool.service.queue import Queue
from bisect_tool.service.retrying import is_passing
from bisect_tool.service.submissions import ReadSubmission, read_submission
from bisect_tool.store import tables
from bisect_tool.store.database import Database
from bisect_tool.store.records import storable
from bisect_tool.store.service_tables import jobs, question_files, questions

MOST = 200  # questions on one page


class Questions:
    """All questions of a database. Every method raises what `Database` raises."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def submit(
        self, submission: Submission, asker: Asker, *, priority: int = USUAL_PRIORITY, source: str | None = None
    ) -> Submitted:
        """Ask: what was asked before, by anybody, gives that question; `source` says where it came from.

        A question that was cancelled, or that a fault of the machine ended, is worked on again. Raises `SpecError` with every
        mistake.
        """
        read = read_submission(submission)
        return self.ask(read, asker, priority=priority, source=source)

    def ask(
        self, read: ReadSubmission, asker: Asker, *, priority: int = USUAL_PRIORITY, source: str | None = None
    ) -> Submitted:
        """The same, for a submission that was read."""
        row = self._row(read, asker, source)
        least, most = PRIORITIES
        work = Work(Purpose.ANSWER, asker, min(max(priority, least), most), lane_of(read.spec))
        put = (postgresql if self.database.is_server else sqlite).insert(questions).values(row)
        put = put.on_conflict_do_nothing()

        def change(connection: Connection) -> Submitted:
            is_new = connection.execute(put.returning(questions.c.id)).first() is not None
            hold(connection, read.id)
            if is_new:
                _keep_files(connection, read)
            question = question_at(connection, read.id)
            assert question is not None
            if is_new or _is_asked_again(question):
                add_job(self.database, connection, read.id, work)
                question = question_at(connection, read.id) or question
            return Submitted(question, next(iter(open_jobs(connection, read.id)), None), is_new)

        return self.database.write(change)

    def known(self, submission: Submission) -> Question | None:
        """The question that a submission asks, if somebody has asked it. Raises `SpecError`."""
        return self.get(read_submission(submission).id)

    def get(self, question: str) -> Question | None:
        """The question of that id."""
        return self.database.read(lambda connection: question_at(connection, question))

    def files(self, question: str) -> list[tuple[str, bytes]]:
        """The files of a question, in the order of their paths; the spec is not among them."""
        table = question_files
        query = select(table.c.path, table.c.content).where(table.c.question == question).order_by(table.c.path)
        return self.database.read(lambda connection: [(row[0], bytes(row[1])) for row in connection.execute(query)])

    def report(self, question: str) -> dict[str, Any] | None:
        """The report that answers a question, or tells what is known of it; None without one."""
        query = select(tables.runs.c.report).join(questions, questions.c.run == tables.runs.c.id)
        query = query.where(questions.c.id == question)
        found = self.database.read(lambda connection: connection.execute(query).scalar())
        return None if found is None else dict(found)

    def find(self, wanted: Filter) -> Found:
        """The questions that fit, the last changed first, in pages."""
        most = min(max(wanted.most, 1), MOST)
        query = _fitting(wanted).order_by(questions.c.changed.desc(), questions.c.id.desc()).limit(most + 1)
        rows = self.database.read(lambda connection: connection.execute(query).all())
        found = [question_of(row) for row in rows[:most]]
        return Found(found, _place_of(found[-1]) if len(rows) > most else None)

    def counts(self) -> dict[QuestionState, int]:
        """How many questions there are in each state."""
        query = select(questions.c.state, func.count()).group_by(questions.c.state)
        rows = self.database.read(lambda connection: connection.execute(query).all())
        return dict.fromkeys(QuestionState, 0) | {QuestionState(row[0]): int(row[1]) for row in rows}

    def jobs(self, question: str) -> list[Job]:
        """The jobs of a question, the oldest first."""
        query = JOBS.where(jobs.c.question == question).order_by(jobs.c.id)
        return self.database.read(lambda connection: [job_of(row) for row in connection.execute(query)])

    def cancel(self, question: str) -> Question:
        """End all work on a question: running work stops soon, and what it knows is reported. Raises `LookupError`."""
        Queue(self.database).cancel(question)
        found = self.get(question)
        if found is None:
            raise LookupError(question)
        return found

    def retry(self, question: str, asker: Asker, *, fresh: bool, priority: int = USUAL_PRIORITY) -> Job:
        """Have a question answered again, from the trials that are known or without them (`fresh`).

        While it is being answered, that job is given. Raises `LookupError`.
        """
        purpose = Purpose.FRESH if fresh else Purpose.ANSWER
        return Queue(self.database).add(question, purpose, asker, priority, self.lane(question))

    def lane(self, question: str) -> str:
        """The lane of a question, that of its first job. Raises `LookupError`."""
        query = select(jobs.c.lane).where(jobs.c.question == question).order_by(jobs.c.id).limit(1)
        lane = self.database.read(lambda connection: connection.execute(query).scalar())
        if lane is None:
            raise LookupError(question)
        return str(lane)

    def _row(self, read: ReadSubmission, asker: Asker, source: str | None) -> dict[str, Any]:
        spec, now = read.spec, self.database.now()
        about = {
            "name": spec.name,
            "title": storable(spec.title),
            "package": spec.package,
            "issue": storable(spec.issue),
        }
        asked = {"channel": ", ".join(spec.channel), "spec": read.text, "repro": read.repro, "owner": asker.name}
        stand = {"state": QuestionState.QUEUED, "submitted": now, "changed": now, "source": storable(source)}
        return {"id": read.id, "digest": read.digest, **about, **asked, **stand}


def question_at(connection: Connection, question: str) -> Question | None:
    """The question of that id, within a transaction."""
    row = connection.execute(QUESTIONS.where(questions.c.id == question)).first()
    return None if row is None else question_of(row)


def _keep_files(connection: Connection, read: ReadSubmission) -> None:
    rows = [{"question": read.id, "path": path, "content": content} for path, content in read.files]
    if rows:
        connection.execute(insert(question_files), rows)


def _is_asked_again(question: Question) -> bool:
    """Whether somebody who asks now is owed new work: nobody works on it, and what ended it is nothing of the question."""
    if question.state is QuestionState.FAILED:
        return question.error is not None and is_passing(question.error)
    return question.state is QuestionState.CANCELLED


def _fitting(wanted: Filter) -> Select[Any]:
    query = QUESTIONS
    if wanted.states:
        query = query.where(questions.c.state.in_(wanted.states))
    if wanted.package is not None:
        query = query.where(questions.c.package == wanted.package)
    if wanted.owner is not None:
        query = query.where(questions.c.owner == wanted.owner)
    for word in (wanted.text or "").split()[:10]:
        columns = (questions.c.name, questions.c.title, questions.c.issue, questions.c.id)
        query = query.where(or_(*(column.icontains(word, autoescape=True) for column in columns)))
    if wanted.before is not None:
        changed, _, number = wanted.before.partition("-")
        earlier = and_(questions.c.changed == float.fromhex(changed), questions.c.id < number)
        query = query.where(or_(questions.c.changed < float.fromhex(changed), earlier))
    return query


def _place_of(question: Question) -> str:
    """Where a page ends, to the last bit of the time."""
    return f"{question.changed.hex()}-{question.id}"
