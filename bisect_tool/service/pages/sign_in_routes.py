"""Signing in with a token: the browser holds it in a cookie that no script can read and no other site can use."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from bisect_tool.service.access import COOKIE, Here
from bisect_tool.service.pages.forgery import OwnForm, hold
from bisect_tool.service.pages.page_route import PageRoute
from bisect_tool.service.pages.rendering import HEADERS, render

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/sign-in")
def show_form(request: Request, back: str = "/") -> Response:
    """The form; `back` is the page to go on with."""
    return render(request, "sign_in", wrong="", back=_own_path(back))


@router.post("/sign-in")
def sign_in(request: Request, services: Here, form: OwnForm) -> Response:
    """Take a token that is valid; says so when it is not."""
    request.app.state.rates.count(f"address {request.client.host if request.client else ''}")
    text, back = str(form.get("token") or "").strip(), _own_path(form.get("back"))
    if services.tokens.find(text) is None:
        return render(request, "sign_in", 403, wrong="This token is not valid: unknown, expired or revoked.", back=back)
    response = RedirectResponse(back, 303, HEADERS)
    hold(request, response, COOKIE, text)
    return response


@router.post("/sign-out")
def sign_out(_form: OwnForm) -> Response:
    """Forget the token."""
    response = RedirectResponse("/", 303, HEADERS)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def _own_path(given: object) -> str:
    """Where to go on: a path of this server, never another site."""
    path = given if isinstance(given, str) else ""
    is_own = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_own else "/"
