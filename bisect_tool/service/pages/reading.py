"""What the pages read, each from the functions that the API reads too."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, select

from bisect_tool.reports.formats import html, markdown
from bisect_tool.reports.report import Report
from bisect_tool.service.finding import Query as LookUp
from bisect_tool.service.job_rows import JOBS, job_of
from bisect_tool.service.looking_up import look_up
from bisect_tool.service.pages.following import Following
from bisect_tool.service.pages.known_answers import KnownAnswer, known_answers
from bisect_tool.service.pages.live_view import case_counts
from bisect_tool.service.pages.question_list import Wanted
from bisect_tool.service.pages.question_page import Queued, ReportBody, Standing, active_job
from bisect_tool.service.pages.queue_page import MOST_WAITING, Works
from bisect_tool.service.places import Place, places
from bisect_tool.service.question import Found, Job, JobState, Question
from bisect_tool.service.services import Services
from bisect_tool.service.workers import Workers
from bisect_tool.store import tables
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import jobs, questions


def summaries(database: Database, of: Iterable[Question]) -> dict[str, tuple[str, ...]]:
    """The sentences that answer these questions, by run; of each report the database reads nothing else out."""
    runs = sorted({question.run for question in of if question.run})
    query = select(tables.runs.c.id, tables.runs.c.report["summary"]).where(tables.runs.c.id.in_(runs))

    def ask(connection: Connection) -> dict[str, tuple[str, ...]]:
        return {row[0]: tuple(map(str, row[1] or ())) for row in connection.execute(query)}

    return database.read(ask) if runs else {}


def known(services: Services, wanted: Wanted, found: Found) -> tuple[KnownAnswer, ...]:
    """The stored answers whose failures the search fits; none on further pages."""
    if not wanted.text.strip() or wanted.before:
        return ()
    finding = look_up(services.results, [LookUp(wanted.text, package=wanted.package or None)], fill_seconds=0.0)[0]
    return known_answers(finding, {question.id for question in found.questions})


def report_at(services: Services, question: Question) -> Report | None:
    """The report of a question; None without one."""
    found = services.questions.report(question.id)
    return None if found is None else Report.model_validate(found)


def report_body(question: Question, report: Report) -> ReportBody:
    """The report as the page includes it; a log is the page of its trial."""
    values = html.body_values(report)
    values["log_of"] = lambda case, build, _log: trial_address(question.id, case, build)
    values["counts"] = tuple(case_counts(case) for case in report.cases)
    return ReportBody(report, values, markdown.render(report))


def trial_address(question: str, case: str, build: str) -> str:
    """The page of a trial."""
    from urllib.parse import quote

    return f"/q/{question}/trials/{quote(case, safe='')}/{quote(build, safe='/')}"


def standing_of(services: Services, question: Question, following: Following) -> Standing:
    """How a question stands now, with the live view of the job that works on it."""
    of_question = services.questions.jobs(question.id)
    job, now = active_job(of_question), services.clock()
    live = following.view(services.events, question.id, job.id, now) if job is not None else None
    waits = job is not None and job.state is JobState.WAITING
    return Standing(question, of_question, live, _place(services, job.id) if job and waits else None, now)


def _place(services: Services, job: int) -> Queued | None:
    every = services.database.read(lambda connection: places(services.database, connection))
    return next((Queued(one.position, len(every), one.age, one.why) for one in every if one.job.id == job), None)


def works(services: Services) -> Works:
    """The queue and the workers as they are now."""
    database = services.database

    def ask(connection: Connection) -> tuple[list[Job], list[Place]]:
        running = JOBS.where(jobs.c.state == JobState.RUNNING).order_by(jobs.c.started)
        return [job_of(row) for row in connection.execute(running)], places(database, connection)

    running, waiting = database.read(ask)
    seen = Workers(database, services.queue.span).seen()
    shown = [place.job for place in waiting[:MOST_WAITING]]
    named = {job.question for job in (*running, *shown)} | {worker.about for worker in seen}
    return Works(services.questions.counts(), running, waiting, seen, titles(database, named), services.clock())


def titles(database: Database, questions_named: Iterable[str]) -> dict[str, str]:
    """What these questions are called, by id; what is no question is left out."""
    columns = (questions.c.id, questions.c.title, questions.c.name)
    query = select(*columns).where(questions.c.id.in_(sorted(questions_named)))
    return database.read(lambda connection: {row[0]: row[1] or row[2] for row in connection.execute(query)})
