"""Earlier answers to a question, and whether it is watched."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from fastapi.responses import RedirectResponse

from bisect_tool.reports import writing
from bisect_tool.service.access import Here
from bisect_tool.service.answers import Answers
from bisect_tool.service.api.answers import PAGE_POLICY
from bisect_tool.service.api.watches import watches_of
from bisect_tool.service.api.words import Asked
from bisect_tool.service.pages import forgery
from bisect_tool.service.pages.history_part import HistoryPart, history_part
from bisect_tool.service.pages.page_route import PageRoute, Reader, Worker
from bisect_tool.service.pages.rendering import HEADERS
from bisect_tool.service.problems import not_found
from bisect_tool.service.reviews import Reviews
from bisect_tool.service.services import Services

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_CHOICES = {"yes": True, "no": False, "auto": None}


@router.get("/q/{question}/history/{run}")
def show_earlier(
    services: Here, _visitor: Reader, question: Asked, run: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
) -> Response:
    """The report of an earlier answer, as a page of its own."""
    known = Answers(services.database)
    report = known.report(run) if run in {one.run for one in known.history(question.id)} else None
    if report is None:
        raise not_found("there is no such answer", "choose one on the page of the question")
    headers = {**HEADERS, "Content-Security-Policy": PAGE_POLICY}
    return Response(writing.render("html", report), media_type="text/html; charset=utf-8", headers=headers)


@router.post("/q/{question}/watch")
def choose(services: Here, _visitor: Worker, form: forgery.OwnForm, question: Asked) -> Response:
    """Say whether new builds are looked at."""
    wanted = str(form.get("watch"))
    if wanted in _CHOICES:
        watches_of(services).choose(question.id, is_watched=_CHOICES[wanted])
    return RedirectResponse(f"/q/{question.id}", 303, HEADERS)


def history_of(services: Services, question: str, *, may_work: bool) -> HistoryPart:
    """What is told of a question besides its answer."""
    database = services.database
    watch, doubt = watches_of(services).of(question), Reviews(database).doubted(question)
    return history_part(Answers(database).history(question), watch, doubt, may_work=may_work)
