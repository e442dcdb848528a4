"""The answer of a question in the formats of `bisect run`."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import Any

from fastapi import APIRouter, Response

from bisect_tool.reports.report import Report
from bisect_tool.service.access import Here, Reader
from bisect_tool.service.api.words import Asked, problems
from bisect_tool.service.problems import not_found

router = APIRouter(tags=["answers"])


class Format(StrEnum):
    """How a report is wanted."""

    JSON = "json"
    MARKDOWN = "md"
    HTML = "html"
    TEXT = "txt"


_MODULES = {Format.JSON: "json", Format.MARKDOWN: "markdown", Format.HTML: "html", Format.TEXT: "terminal"}
_MEDIA = {
    Format.JSON: "application/json",
    Format.MARKDOWN: "text/markdown",
    Format.HTML: "text/html",
    Format.TEXT: "text/plain",
}
# The page brings its own styles. Whatever a repro printed stands in it: it has no script, no origin, and reaches nothing.
PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "sandbox allow-popups"
)
_CONTENT: dict[str, Any] = {
    "application/json": {"schema": {"type": "object", "description": "docs/report-schema.json"}},
    **{media: {"schema": {"type": "string"}} for media in ("text/markdown", "text/html", "text/plain")},
}


@router.get(
    "/questions/{question}/report.{format}",
    response_class=Response,
    responses={**problems(404), 200: {"description": "The report.", "content": _CONTENT}},
)
def get_report(question: Asked, format: Format, services: Here, _: Reader) -> Response:  # noqa: A002  a part of the address
    """The report that answers a question, or tells what is known when the work was ended early."""
    found = services.questions.report(question.id)
    if found is None:
        raise not_found(
            f"the question {question.id} has no report: it is {question.state}",
            f"GET /api/v1/questions/{question.id}/events tells how far it is",
        )
    return render(found, format)


def render(stored: dict[str, Any], format_: Format) -> Response:
    """A stored report in a format."""
    text: str = import_module(f"bisect_tool.reports.formats.{_MODULES[format_]}").render(Report.model_validate(stored))
    headers = {"Content-Security-Policy": PAGE_POLICY} if format_ is Format.HTML else None
    return Response(text, headers=headers, media_type=_MEDIA[format_])
