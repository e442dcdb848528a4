"""How a page answers what goes wrong: with a page."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.datastructures import Headers

from bisect_tool.errors import BisectError
from bisect_tool.service.access import COOKIE, Anybody, Visitor, needs
from bisect_tool.service.pages.rendering import render
from bisect_tool.service.problems import Refused, hidden, request_id
from bisect_tool.service.tokens import Scope

LONGEST_PAUSE = 60  # seconds after which a page is tried again by itself


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """What the page of a problem says; `sign_in`: a token would help; `again`: seconds after which it is tried by itself."""

    title: str
    what: str
    advice: str
    where: str | None = None
    sign_in: bool = False
    mistakes: tuple[str, ...] = ()
    again: int | None = None


class PageRoute(APIRoute):
    """A route whose refusals are pages. What is a defect of ours goes on to the app, which logs it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with what it raises as a page."""
        handle = super().get_route_handler()

        async def handle_page(request: Request) -> Response:
            try:
                return await handle(request)
            except (Refused, BisectError, RequestValidationError) as error:
                own = await self.instead(request, error) if isinstance(error, Refused) else None
                return own or problem_page(request, error)

        return handle_page

    async def instead(self, request: Request, error: Refused) -> Response | None:  # noqa: ARG002  for routes that have one
        """A page that is better than the one of the problem; None: there is none."""
        return None


def problem_page(request: Request, error: Exception) -> Response:
    """The page that tells what went wrong and what to do next."""
    if isinstance(error, BisectError):
        error = hidden(error, request_id(request)) or error
    status, shown = _explained(error)
    if isinstance(error, Refused) and request.method == "GET":
        shown = replace(shown, again=_pause(Headers(error.headers).get("Retry-After", "")))
    response = render(request, "problem", status, problem=shown)
    if isinstance(error, Refused):
        response.headers.update({name: value for name, value in error.headers.items() if name.lower() == "retry-after"})
        forget_token(request, response, error)
    return response


def forget_token(request: Request, response: Response, error: Refused) -> None:
    """Let the browser forget a token that opens nothing any more."""
    if error.status == HTTPStatus.UNAUTHORIZED and COOKIE in request.cookies:
        response.delete_cookie(COOKIE, httponly=True, samesite="strict")


def _explained(error: Exception) -> tuple[int, ShownProblem]:
    match error:
        case Refused():
            title = (
                "Sign in" if error.status == HTTPStatus.UNAUTHORIZED else HTTPStatus(error.status).phrase.capitalize()
            )
            is_unknown = error.status == HTTPStatus.UNAUTHORIZED
            advice = "Sign in with a token." if is_unknown else _sentence(error.advice)
            what, mistakes = _sentence(error.what), tuple(error.mistakes)
            return error.status, ShownProblem(title, what, advice, error.where, is_unknown, mistakes)
        case BisectError():
            title = HTTPStatus(422).phrase.capitalize()
            return 422, ShownProblem(title, error.what, _sentence(error.advice), error.where)
        case _:  # an address whose parts are not of their kind leads nowhere
            return 404, ShownProblem("Not found", "There is no such page.", "Look for it in the list of questions.")


def _pause(seconds: str) -> int | None:
    return int(seconds) if seconds.isdecimal() and int(seconds) <= LONGEST_PAUSE else None


def _sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def _remembered(scope: Scope) -> Callable[[Request, Visitor], Visitor]:
    check = needs(scope)

    def enter(request: Request, visitor: Anybody) -> Visitor:
        request.state.on_page = visitor  # the page shows who is signed in, also the one that refuses
        return check(visitor)

    return enter


Reader = Annotated[Visitor, Depends(_remembered(Scope.READ))]
Submitter = Annotated[Visitor, Depends(_remembered(Scope.SUBMIT))]
Worker = Annotated[Visitor, Depends(_remembered(Scope.WORK))]
