"""Asking a question from a browser, with or without script."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from http import HTTPStatus

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData, UploadFile

from bisect_tool.errors import SpecError
from bisect_tool.service.access import Here
from bisect_tool.service.pages.asking import SCRIPT_NAME, AskForm, FormProblem, problem_of, submission_of
from bisect_tool.service.pages.forgery import OwnForm, own_form
from bisect_tool.service.pages.page_route import PageRoute, Reader, Submitter, forget_token
from bisect_tool.service.pages.rendering import HEADERS, render
from bisect_tool.service.problems import Refused


class AskRoute(PageRoute):
    """Whoever may not ask, or not any more, gets the form again with what was typed, and can send it once signed in."""

    async def instead(self, request: Request, error: Refused) -> Response | None:
        """The form; None where it was not sent from our page, or something else is wrong."""
        if request.method != "POST" or error.status not in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            return None
        try:
            async with asynccontextmanager(own_form)(request) as form:
                typed = _typed(form)
        except Refused:
            return None
        what = f"The question was not taken: {error.what}"
        advice = (
            "Sign in in another tab, then send this again: what you typed is still here. Files are to be chosen again."
        )
        response = render(request, "ask", error.status, form=replace(typed, problem=FormProblem(what, (), advice)))
        forget_token(request, response, error)
        return response


router = APIRouter(route_class=AskRoute, include_in_schema=False)


@router.get("/ask")
def show_form(request: Request, _visitor: Reader) -> Response:
    """The empty form."""
    return render(request, "ask", form=AskForm())


@router.post("/ask")
def ask(request: Request, services: Here, visitor: Submitter, form: OwnForm) -> Response:
    """Ask: leads to the page of the question, or back to the form with every mistake at its place."""
    request.app.state.rates.count_submission(visitor.key)
    filled = _typed(form)
    try:
        filled, submission = submission_of(filled, _uploads(form))
        submitted = services.questions.submit(submission, visitor.asker)
    except SpecError as error:
        shown = AskForm(filled.spec, filled.script, filled.script_name, problem_of(error))
        return render(request, "ask", 422, form=shown)
    return RedirectResponse(f"/q/{submitted.question.id}", 303, HEADERS)


def _typed(form: FormData) -> AskForm:
    return AskForm(_text(form, "spec"), _text(form, "script"), _text(form, "script_name") or SCRIPT_NAME)


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def _uploads(form: FormData) -> list[tuple[str, bytes]]:
    uploads = (value for value in form.getlist("files") if isinstance(value, UploadFile))
    return [(upload.filename, upload.file.read()) for upload in uploads if upload.filename]
