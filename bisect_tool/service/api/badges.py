"""A badge: how a question stands, as a small picture for a page or an issue."""

from __future__ import annotations

import hashlib

from fastapi import APIRouter, Request, Response

from bisect_tool.service.access import Anybody, Here
from bisect_tool.service.api.words import Asked, problems
from bisect_tool.service.badge import badge_of, draw
from bisect_tool.service.question import QuestionState

router = APIRouter(tags=["badges"])
_MOVING = {QuestionState.QUEUED, QuestionState.RUNNING}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",  # it is made to be shown on other pages
}


@router.get(
    "/questions/{question}/badge.svg",
    response_class=Response,
    responses={
        **problems(404),
        200: {"description": "The badge.", "content": {"image/svg+xml": {"schema": {"type": "string"}}}},
        304: {"description": "It is still the same."},
    },
)
def get_badge(question: Asked, request: Request, services: Here, _: Anybody) -> Response:
    """How a question stands. Anybody may see it who knows the id, without a token: pages elsewhere show it."""
    picture = draw(badge_of(question, services.questions.report(question.id)))
    tag = f'"{hashlib.sha256(picture.encode()).hexdigest()[:16]}"'
    seconds = 30 if question.state in _MOVING else 300
    headers = {**_HEADERS, "ETag": tag, "Cache-Control": f"public, max-age={seconds}"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(picture, headers=headers, media_type="image/svg+xml")
