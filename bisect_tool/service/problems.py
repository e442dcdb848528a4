"""What is told when a request cannot be done: problem details (RFC 9457) that say what happened, where, and what to do next."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from bisect_tool.errors import BisectError, DiskFull, SettingError, SpecError, StoreUnreachable

MEDIA = "application/problem+json"
_LOG = logging.getLogger("bisect.service")
# The status for a kind of error, and what is told of one that is not the client's.
_STATUSES: tuple[tuple[type[BisectError], int, str | None], ...] = (
    (SpecError, 422, None),
    (SettingError, 422, None),
    (StoreUnreachable, 503, "the database of the server does not answer"),
    (DiskFull, 507, "the server has no space left"),
)
_SOMETHING = "something is wrong with the server"


class Problem(BaseModel):
    """Why a request was refused or failed (RFC 9457)."""

    type: str = Field(description="Which kind of problem it is: `urn:bisect:problem:` and a word.")
    title: str = Field(description="The kind in words.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field(description="What happened.")
    advice: str = Field(description="What to do next.")
    where: str | None = Field(default=None, description="Where: a key of the spec, a field, a path.")
    exit_status: int | None = Field(default=None, description="The exit status that `bisect run` has for it.")
    mistakes: list[str] = Field(default_factory=list, description="Every mistake of the request, one each.")
    request: str = Field(description="The id of the request: the logs of the server have it too.")


class Refused(Exception):
    """A request that is not done: the status of the answer, what happened, and what to do next."""

    def __init__(
        self,
        status: int,
        what: str,
        advice: str,
        *,
        where: str | None = None,
        headers: dict[str, str] | None = None,
        mistakes: Sequence[str] = (),
    ) -> None:
        super().__init__(what)
        self.status = status
        self.what = what
        self.advice = advice
        self.where = where
        self.headers = headers or {}
        self.mistakes = list(mistakes)


def not_found(what: str, advice: str = "check the address; GET /api/v1/questions lists what there is") -> Refused:
    """The refusal for what is not there."""
    return Refused(404, what, advice)


def add_handlers(app: FastAPI) -> None:
    """Answer every error of a route with problem details; `guards.WithoutDefects` does so for defects of ours."""
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(BisectError, _bisect_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _of_framework)


def answer(
    request_id: str,
    status: int,
    what: str,
    advice: str,
    *,
    kind: str | None = None,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Response:
    """The answer for a problem; `kind` is a word for it, left out: that of the status."""
    phrase = HTTPStatus(status).phrase
    problem = Problem(
        type=f"urn:bisect:problem:{kind or phrase.lower().replace(' ', '-')}",
        title=phrase if kind is None else kind.replace("-", " ").capitalize(),
        status=status,
        detail=what,
        advice=advice,
        request=request_id,
        **more,
    )
    content = problem.model_dump(mode="json", exclude_none=True)
    return JSONResponse(content, status, headers, media_type=MEDIA)


def request_id(request: Request) -> str:
    """The id that the request was given; empty outside of the app."""
    return str(getattr(request.state, "request_id", ""))


def hidden(error: BisectError, number: str) -> Refused | None:
    """What a client hears of what is wrong here, which is logged under the number of its request; None for what is its own."""
    status, own = _status_of(error)
    if own is None:
        return None
    # What is wrong here, and where, is for whoever runs the server.
    _LOG.error("%s", error.what, extra={"request": number, "error": type(error).__name__, "where": error.where})
    headers = {"Retry-After": "5"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    advice = f"try again later; whoever runs the server finds more in its log under {number}"
    return Refused(status, own, advice, headers=headers)


def _status_of(error: BisectError) -> tuple[int, str | None]:
    return next(((status, own) for kind, status, own in _STATUSES if isinstance(error, kind)), (500, _SOMETHING))


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    more: dict[str, Any] = {"where": error.where, "mistakes": error.mistakes}
    return answer(request_id(request), error.status, error.what, error.advice, headers=error.headers, **more)


def _bisect_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, BisectError)
    kind = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in type(error).__name__)[1:]
    number = request_id(request)
    if (ours := hidden(error, number)) is not None:
        more: dict[str, Any] = {"kind": kind, "headers": ours.headers, "exit_status": error.status}
        return answer(number, ours.status, ours.what, ours.advice, **more)
    status, _ = _status_of(error)
    mistakes = [line.strip() for line in error.what.splitlines()[1:]] if isinstance(error, SpecError) else []
    more = {"where": error.where, "exit_status": error.status, "mistakes": mistakes}
    return answer(number, status, error.what, error.advice, kind=kind, **more)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    mistakes = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return answer(
        request_id(request),
        422,
        f"the request has {len(mistakes)} {'mistake' if len(mistakes) == 1 else 'mistakes'}",
        "correct what is listed; /openapi.json describes each request",
        mistakes=mistakes,
    )


def _of_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    advice = {
        404: "check the address; /openapi.json lists every route",
        405: "use one of the methods that the header Allow names",
    }.get(error.status_code, "correct the request; /openapi.json describes each one")
    what = str(error.detail).lower() if error.detail else HTTPStatus(error.status_code).phrase.lower()
    return answer(request_id(request), error.status_code, what, advice, headers=dict(error.headers or {}))
