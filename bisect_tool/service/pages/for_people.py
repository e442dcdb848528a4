"""What is refused, as a page for whoever asks with a browser: programs get the problem details as they are.

It stands around everything that may refuse: the routes of the API, and the guards, which know nothing of pages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http import HTTPStatus

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bisect_tool.service.pages.page_route import problem_page
from bisect_tool.service.problems import MEDIA, Refused

HTML = "text/html"
_JSON = {"application/json", MEDIA}
# What the framework says of an address, in words for somebody who looks at a page.
_WORDS = {
    (404, "not found"): ("there is no such page", "look for it in the list of questions"),
    (405, "method not allowed"): (
        "this address cannot be used in that way",
        "go back, and use the links and buttons of the page",
    ),
}
_LEFT_OUT = {"content-type", "content-length"}  # of the answer whose place the page takes


@dataclass(frozen=True, slots=True)
class ForPeople:
    """Puts a page in the place of problem details, where the client prefers to read HTML."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        accept = Headers(scope=scope).get("accept", "")
        is_page = prefers_page(accept, is_for_programs=scope["path"].startswith("/api/"))
        told = _Told(scope, receive, send, is_page=is_page)
        await self.app(scope, receive, told.send)


@dataclass(slots=True)
class _Told:
    """One answer on its way out; the details of a problem are held back until they are whole."""

    scope: Scope
    _receive: Receive
    _send: Send
    is_page: bool
    _start: Message | None = None
    _parts: list[bytes] = field(default_factory=list)

    async def send(self, message: Message) -> None:
        """Pass a piece on, or ours in its place."""
        if message["type"] == "http.response.start" and _is_problem(message):
            MutableHeaders(scope=message).add_vary_header("Accept")
            if self.is_page:
                self._start = message
                return
        if self._start is None:
            await self._send(message)
        elif message["type"] == "http.response.body":
            self._parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                await self._show()

    async def _show(self) -> None:
        assert self._start is not None
        start, self._start = self._start, None
        request = Request(self.scope, self._receive)
        refused = _refused(json.loads(b"".join(self._parts)), self.scope["method"])
        refused.headers = dict(Headers(scope=start))
        page = problem_page(request, refused)
        if start["status"] != HTTPStatus.UNAUTHORIZED:
            del page.headers["set-cookie"]  # it belongs to a form, and there is none
        for name, value in refused.headers.items():
            if name not in _LEFT_OUT:
                page.headers.setdefault(name, value)
        await page(self.scope, self._receive, self._send)


def _is_problem(start: Message) -> bool:
    return Headers(scope=start).get("content-type", "").partition(";")[0] == MEDIA


def _refused(problem: dict[str, object], method: str) -> Refused:
    """The problem again, in words for people."""
    status = int(str(problem["status"]))
    detail, advice = str(problem["detail"]), str(problem["advice"])
    what, advice = _WORDS.get((status, detail), (detail, advice))
    if method not in {"GET", "HEAD"} and status < HTTPStatus.INTERNAL_SERVER_ERROR:
        what = f"{what}: nothing was changed"
    mistakes = problem.get("mistakes")
    where = problem.get("where")
    return Refused(
        status,
        what,
        advice,
        where=str(where) if where else None,
        mistakes=[str(one) for one in mistakes] if isinstance(mistakes, list) else (),
    )


def prefers_page(accept: str, *, is_for_programs: bool = False) -> bool:
    """Whether a client would rather read HTML than JSON: browsers name it, programs that take anything do not.

    Of an address that is for programs only who likes HTML better than anything else gets it.
    """
    weights: dict[str, float] = {}
    for part in accept.split(","):
        kind, *parameters = (piece.strip() for piece in part.lower().split(";"))
        weights[kind] = _weight(parameters)
    page, data = weights.get(HTML, 0.0), max(weights.get(kind, 0.0) for kind in _JSON)
    if is_for_programs:
        return page > max(data, weights.get("*/*", 0.0), weights.get("*", 0.0))
    return page > 0.0 and page >= data


def _weight(parameters: list[str]) -> float:
    given = next((one.partition("=")[2] for one in parameters if one.startswith("q=")), "1")
    try:
        return float(given)
    except ValueError:
        return 0.0
