"""What was answered when: every finished answer to a question, and what it says that the one before it did not.

Jobs that have ended are taken in one by one, in the order in which they ended: the news of an answer are told once, in the
transaction that notes it, whoever takes it in and however often that is tried. The earlier reports stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError
from sqlalchemy import Connection, Row, delete, exists, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from bisect_tool.reports.report import CasePart, Report
from bisect_tool.runs.batch.since import COMMITS
from bisect_tool.service.answer_news import News, as_values, from_values, news, open_failures, outer
from bisect_tool.service.event_log import add_events
from bisect_tool.service.job_rows import hold
from bisect_tool.service.question import JobState, Purpose
from bisect_tool.store import tables
from bisect_tool.store.database import Database
from bisect_tool.store.found import forget_run
from bisect_tool.store.service_tables import answers, jobs, questions, used_builds

RANKS = {"failing": 0, "flaky": 1, "untestable": 2, "pass": 3}  # what a build counts as of which cases differ


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: the job that found it and its purpose, the run whose report it is, and the run before (None: the first).

    `at` is when it was there, in seconds since 1970; `open` counts the failures that the newest build has.
    """

    job: int
    question: str
    purpose: Purpose
    run: str
    before: str | None
    at: float
    outcome: str | None
    open: int
    news: tuple[News, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a database. Every method raises what `Database` raises."""

    database: Database

    def take_in(self, most: int = 100) -> list[Answer]:
        """Take in jobs that have ended with a report and are not taken in yet; gives the answers, the oldest first."""
        left = self.database.read(lambda connection: connection.execute(_left().limit(most)).all())
        return [answer for row in left if (answer := self._take(row)) is not None]

    def history(self, question: str) -> list[Answer]:
        """What was answered when, the newest first; what is not taken in yet is not among it."""
        query = (
            select(answers, jobs.c.purpose, jobs.c.outcome)
            .join_from(answers, jobs, jobs.c.id == answers.c.job)
            .where(answers.c.question == question)
            .order_by(answers.c.at.desc(), answers.c.job.desc())
        )
        return [_answer(row) for row in self.database.read(lambda connection: connection.execute(query).all())]

    def report(self, run: str) -> Report | None:
        """The report of a run; None without one, or when it is of no form that is known here."""
        return self.database.read(lambda connection: report_at(connection, run))

    def _take(self, job: Row[Any]) -> Answer | None:
        """Note one answer; None when another process has done it."""

        def change(connection: Connection) -> Answer | None:
            hold(connection, job.question)
            before = connection.execute(_newest_of(job.question)).scalar()
            report = report_at(connection, job.run)
            earlier = report_at(connection, before) if before is not None else None
            told = news(earlier, report) if report is not None and earlier is not None else ()
            row = {"job": job.id, "question": job.question, "run": job.run, "before": before, "at": job.ended}
            row |= {"news": as_values(told), "told": len(told), **_facts(connection, job.question, report)}
            put = (postgresql if self.database.is_server else sqlite).insert(answers).values(row)
            if connection.execute(put.on_conflict_do_nothing().returning(answers.c.job)).first() is None:
                return None
            _keep_uses(connection, job.question, report)
            if before is not None and report is not None and job.purpose == Purpose.WATCH:
                forget_run(connection, before)  # where the range was longer, both are found otherwise
            if told:
                body = {"run": job.run, "before": before}
                events = [(event_kind(one), {**body, **one.model_dump(mode="json")}) for one in told]
                add_events(self.database, connection, job.question, job.id, events)
            return Answer(
                job.id, job.question, Purpose(job.purpose), job.run, before, job.ended, job.outcome, row["open"], told
            )

        return self.database.write(change)


def event_kind(one: News) -> str:
    """What the log of events calls it: `failure_fixed` and so on."""
    return one.event.replace(".", "_")


def report_at(connection: Connection, run: str) -> Report | None:
    """The report of a run, within a transaction."""
    found = connection.execute(select(tables.runs.c.report).where(tables.runs.c.id == run)).scalar_one_or_none()
    try:
        return None if found is None else Report.model_validate(found)
    except ValidationError:  # of a later version of this tool
        return None


def _left() -> Any:
    is_known = exists().where(answers.c.job == jobs.c.id)
    return (
        select(jobs.c.id, jobs.c.question, jobs.c.purpose, jobs.c.run, jobs.c.outcome, jobs.c.ended)
        .where(jobs.c.state == JobState.DONE, jobs.c.purpose != Purpose.VERIFY, jobs.c.run.is_not(None), ~is_known)
        .order_by(jobs.c.ended, jobs.c.id)
    )


def _newest_of(question: str) -> Any:
    query = select(answers.c.run).where(answers.c.question == question)
    return query.order_by(answers.c.at.desc(), answers.c.job.desc()).limit(1)


def _answer(row: Row[Any]) -> Answer:
    return Answer(
        job=row.job,
        question=row.question,
        purpose=Purpose(row.purpose),
        run=row.run,
        before=row.before,
        at=row.at,
        outcome=row.outcome,
        open=row.open,
        news=from_values(row.news),
    )


def _facts(connection: Connection, question: str, report: Report | None) -> dict[str, Any]:
    """In which stream newer builds come, and whether they are of interest."""
    text = connection.execute(select(questions.c.spec).where(questions.c.id == question)).scalar_one()
    spec = _spec_values(text)
    asked = {"variant": str(spec.get("variant") or "auto"), "python": str(spec.get("python") or "")}
    if report is None:
        return {**asked, "channel": "", "device": "", "newest": None, "open": 0}
    whole = outer(report)
    return {
        **asked,
        "channel": whole.channel,
        "device": whole.environment.device,
        "newest": whole.cases[0].timeline[-1].build,
        "open": 0 if _is_bound(spec) else len(open_failures(report)),
    }


def _spec_values(text: str) -> Mapping[str, Any]:
    """The spec as plain text: every value is what was written (`3.10` is no number)."""
    values = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  it makes nothing but texts, lists and mappings
    return values if isinstance(values, dict) else {}


def _is_bound(spec: Mapping[str, Any]) -> bool:
    """Whether numbers are compared with the end of the range: with another end it would be another question."""
    metrics = spec.get("metrics")
    return isinstance(metrics, list) and any(isinstance(one, dict) and one.get("reference") == "to" for one in metrics)


def _keep_uses(connection: Connection, question: str, report: Report | None) -> None:
    """The builds that the answer looked at, instead of those of the answer before."""
    connection.execute(delete(used_builds).where(used_builds.c.question == question))
    rows = list(_uses(question, report)) if report is not None else []
    if rows:
        connection.execute(insert(used_builds), rows)


def _uses(question: str, report: Report) -> Iterator[dict[str, Any]]:
    """A row for each whole build that was tried in any channel of the report; the worst of its cases counts."""
    channels = [*((stage.channel, stage.cases) for stage in report.stages), (report.channel, report.cases)]
    rows: dict[str, dict[str, Any]] = {}
    for channel, cases in channels:
        for row in _tried(cases) if channel != COMMITS else ():
            rows[row["build"]] = {"question": question, "channel": channel, **row}
    yield from rows.values()


def _tried(cases: Sequence[CasePart]) -> Iterator[dict[str, Any]]:
    for entries in zip(*(case.timeline for case in cases), strict=False):
        tried = [entry for entry in entries if entry.state != "not tried"]
        if tried:
            worst = min(tried, key=lambda entry: RANKS[entry.state])
            day = worst.date[:10] if worst.date else None
            yield {"build": worst.build, "day": day, "state": worst.state, "reason": worst.reason}
