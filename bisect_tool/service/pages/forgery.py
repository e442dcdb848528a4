"""Forms that only our own pages may send.

A page of somebody else could make a browser send a form here, also to a server that only this machine reaches. So each form has
a field with the random key that the browser holds in a cookie, which the other page cannot read; and what the browser itself
says about where the form came from must not be another place.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from bisect_tool.service.access import services_of
from bisect_tool.service.problems import Refused
from bisect_tool.service.question import MOST_FILES

COOKIE = "bisect_form"
FIELD = "form_key"
_KEY = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_DAY = 86400
_FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")
MOST_FIELD = 1_100_000  # bytes of a field that is no file: a spec, a script


def key_of(request: Request) -> str:
    """The key that the browser holds, or a new one."""
    held = request.cookies.get(COOKIE, "")
    return held if _KEY.match(held) else secrets.token_urlsafe(32)


def give_key(request: Request, response: Response, key: str) -> None:
    """Let the browser hold `key`, unless it does."""
    if request.cookies.get(COOKIE) != key:
        hold(request, response, COOKIE, key)


def hold(request: Request, response: Response, name: str, value: str) -> None:
    """Let the browser hold a cookie for a month, out of reach of scripts and of other sites."""
    is_secure = services_of(request).hosting.address.startswith("https://")
    response.set_cookie(name, value, max_age=30 * _DAY, httponly=True, samesite="strict", secure=is_secure)


def check(request: Request, sent: object) -> None:
    """Raises `Refused` (403) for a form that did not come from one of our own pages; `sent` is its field `FIELD`."""
    held = request.cookies.get(COOKIE, "")
    is_own = isinstance(sent, str) and _KEY.match(held) is not None and hmac.compare_digest(held, sent)
    if not is_own or not _came_from_here(request):
        raise Refused(
            403,
            "this form was not sent from a page of this server, or the page is older than a month",
            "go back, reload the page, and send it again; cookies must be allowed",
        )


def _came_from_here(request: Request) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = request.headers.get("origin")
    # Browsers that say neither are older than the cookie's `SameSite`, or are none.
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def own_form(request: Request) -> AsyncIterator[FormData]:
    """The form that was sent. Raises `Refused`: 403 when it did not come from one of our pages, 413 for too many parts."""
    if not request.headers.get("content-type", "").startswith(_FORMS):
        raise Refused(415, "this is not a form", "send it from its page, or use the API")
    try:
        form = await request.form(max_files=MOST_FILES, max_fields=20, max_part_size=MOST_FIELD)
    except HTTPException as error:
        raise Refused(413, f"the form cannot be read: {error.detail}", "send less at once") from error
    try:
        check(request, form.get(FIELD))
        yield form
    finally:
        await form.close()


OwnForm = Annotated[FormData, Depends(own_form)]
