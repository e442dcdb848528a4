"""The list of questions, one question, its report in other forms, and its trials."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from bisect_tool.reports import writing
from bisect_tool.reports.report import Report
from bisect_tool.service.access import Here
from bisect_tool.service.api.answers import PAGE_POLICY
from bisect_tool.service.api.evidence import Build, Case, Number, evidence_of, log_of
from bisect_tool.service.api.words import PLAIN, Asked
from bisect_tool.service.pages import forgery, reading
from bisect_tool.service.pages.history_routes import history_of
from bisect_tool.service.pages.page_route import PageRoute, Reader, Worker
from bisect_tool.service.pages.question_list import Wanted, question_list
from bisect_tool.service.pages.question_page import QuestionPage, question_page
from bisect_tool.service.pages.rendering import HEADERS, render
from bisect_tool.service.pages.trial_page import trial_page
from bisect_tool.service.problems import not_found
from bisect_tool.service.question import QuestionState
from bisect_tool.service.tokens import Scope

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_PLACE = re.compile(r"0x[01]\.[0-9a-f]{1,13}p\+[0-9]{1,2}-q[0-9a-f]{20}\Z")
_FORMS = {"json": "application/json", "md": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8"}
_NAMES = {"json": "json", "md": "markdown", "html": "html"}


@router.get("/")
def show_questions(
    request: Request,
    services: Here,
    _visitor: Reader,
    text: Annotated[str, Query(max_length=200, pattern=PLAIN)] = "",
    state: str = "",
    package: Annotated[str, Query(max_length=200, pattern=PLAIN)] = "",
    owner: Annotated[str, Query(max_length=200, pattern=PLAIN)] = "",
    before: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """The list of questions; a filter that makes no sense is none."""
    chosen = None
    with suppress(ValueError):
        chosen = QuestionState(state)
    wanted = Wanted(text, chosen, package, owner, before if _PLACE.match(before) else "")
    found = services.questions.find(wanted.filter)
    summaries = reading.summaries(services.database, found.questions)
    known = reading.known(services, wanted, found)
    return render(request, "questions", shown=question_list(wanted, found, summaries), known=known)


@router.get("/q/{question}")
def show_question(request: Request, services: Here, visitor: Reader, question: Asked) -> Response:
    """One question: how it stands, its answer, what was asked."""
    report = reading.report_at(services, question)
    body = reading.report_body(question, report) if report else None
    standing = reading.standing_of(services, question, request.app.state.following)
    files = services.questions.files(question.id)
    may_work = visitor.may(Scope.WORK)
    shown = question_page(standing, files, body, may_work=may_work)
    history = history_of(services, question.id, may_work=may_work)
    return render(request, "question", shown=shown, history=history, **(dict(body.values) if body else {}))


@router.get("/q/{question}/live")
def show_live(request: Request, services: Here, _visitor: Reader, question: Asked) -> Response:
    """The part of the page that changes while it is worked on; 205 once the whole page is another one."""
    standing = reading.standing_of(services, question, request.app.state.following)
    shown: QuestionPage = question_page(standing, (), None, may_work=False)
    if not shown.is_live:
        return Response(status_code=205, headers=HEADERS)
    return render(request, "live", shown=shown)


@router.get("/q/{question}/report.{form}")
def show_report(services: Here, _visitor: Reader, question: Asked, form: str) -> Response:
    """The report as JSON, Markdown or a page of its own."""
    report = reading.report_at(services, question)
    if report is None or form not in _FORMS:
        raise not_found("there is no such report", "wait until the question is answered")
    headers = {**HEADERS, "Content-Security-Policy": PAGE_POLICY}
    return Response(writing.render(_NAMES[form], report), media_type=_FORMS[form], headers=headers)


@router.get("/q/{question}/trials/{case}/{build:path}")
def show_trials(
    request: Request, services: Here, _visitor: Reader, question: Asked, case: Case, build: Build
) -> Response:
    """The trials of a case on a build."""
    trials = evidence_of(services).trials(question, case, build)
    report = reading.report_at(services, question)
    if not trials and not _has(report, case, build):
        raise not_found(f"there is no case {case[:40]} on {build[:40]}", "choose one on the page of the question")
    return render(request, "trial", shown=trial_page(question, case, build, trials, report))


@router.get("/q/{question}/logs/{trial}")
def show_log(services: Here, _visitor: Reader, question: Asked, trial: Number) -> Response:
    """What a trial printed, as plain text."""
    return PlainTextResponse(log_of(services, question, trial), headers=HEADERS)


@router.post("/q/{question}/cancel")
def cancel(services: Here, _visitor: Worker, _form: forgery.OwnForm, question: Asked) -> Response:
    """End the work on a question."""
    services.questions.cancel(question.id)
    return RedirectResponse(f"/q/{question.id}", 303, HEADERS)


@router.post("/q/{question}/retry")
def retry(services: Here, visitor: Worker, form: forgery.OwnForm, question: Asked) -> Response:
    """Have a question answered again."""
    services.questions.retry(question.id, visitor.asker, fresh=form.get("fresh") == "yes")
    return RedirectResponse(f"/q/{question.id}", 303, HEADERS)


def _has(report: Report | None, case: str, build: str) -> bool:
    parts = (part for part in (report.cases if report else ()) if part.name == case)
    return any(entry.build == build for part in parts for entry in part.timeline)
