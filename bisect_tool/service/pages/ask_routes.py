"""Asking a question from a browser, with or without script."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData, UploadFile

from bisect_tool.errors import SpecError
from bisect_tool.service.access import Here
from bisect_tool.service.pages.asking import SCRIPT_NAME, AskForm, problem_of, submission_of
from bisect_tool.service.pages.forgery import OwnForm
from bisect_tool.service.pages.page_route import PageRoute, Reader, Submitter
from bisect_tool.service.pages.rendering import HEADERS, render

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/ask")
def show_form(request: Request, _visitor: Reader) -> Response:
    """The empty form."""
    return render(request, "ask", form=AskForm())


@router.post("/ask")
def ask(request: Request, services: Here, visitor: Submitter, form: OwnForm) -> Response:
    """Ask: leads to the page of the question, or back to the form with every mistake at its place."""
    request.app.state.rates.count_submission(visitor.key)
    filled = AskForm(_text(form, "spec"), _text(form, "script"), _text(form, "script_name") or SCRIPT_NAME)
    try:
        filled, submission = submission_of(filled, _uploads(form))
        submitted = services.questions.submit(submission, visitor.asker)
    except SpecError as error:
        shown = AskForm(filled.spec, filled.script, filled.script_name, problem_of(error))
        return render(request, "ask", 422, form=shown)
    return RedirectResponse(f"/q/{submitted.question.id}", 303, HEADERS)


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def _uploads(form: FormData) -> list[tuple[str, bytes]]:
    uploads = (value for value in form.getlist("files") if isinstance(value, UploadFile))
    return [(upload.filename, upload.file.read()) for upload in uploads if upload.filename]
