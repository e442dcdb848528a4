"""What every request passes through before a route sees it, and every answer on its way out.

They are plain ASGI apps around an app, so that streams pass through piece by piece.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bisect_tool.service.problems import answer
from bisect_tool.service.services import Hosting

MOST_BYTES = 1_000_000  # of the body of a request
MOST_BYTES_OF_QUESTION = 24_000_000  # 17 MB of spec and files (`question`), a third more as base64 in JSON
LARGER = {
    "/api/v1/questions": MOST_BYTES_OF_QUESTION,
    "/ask": MOST_BYTES_OF_QUESTION,
    "/api/v1/lookups": 4_000_000,  # some pasted logs
}
PATIENCE = 60.0  # seconds for a body to arrive
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
_SAFE = {"GET", "HEAD", "OPTIONS"}
_API = "/api/v1"
_CONVERTER = re.compile(r":\w+}")  # of a path with slashes, as in `{build:path}`
_LOG = logging.getLogger("bisect.service")


@dataclass(frozen=True, slots=True)
class Logged:
    """Gives every request an id, and writes a line about it when it has ended; `observe` hears method, route, status, seconds.

    The line has no query and no headers: they may hold secrets.
    """

    app: ASGIApp
    observe: Callable[[str, str, int, float], None]
    clock: Callable[[], float] = time.monotonic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["request_id"] = secrets.token_hex(8)
        started, status = self.clock(), 0

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = state["request_id"]
            await send(message)

        try:
            await self.app(scope, receive, note)
        finally:
            self._tell(scope, status, self.clock() - started)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        # Status 0: the client left before the answer.
        self.observe(scope["method"], _template(scope), status, seconds)
        about = {
            "request": scope["state"]["request_id"],
            "method": scope["method"],
            "path": scope["path"],
            "status": status,
            "ms": round(seconds * 1000, 1),
            "client": scope["client"][0] if scope.get("client") else "",
            "visitor": scope["state"].get("visitor", ""),
        }
        _LOG.info("request", extra=about)


def _template(scope: Scope) -> str:
    """The address of a route with the names of its variable parts, never with their values: of these there are few."""
    own = getattr(scope.get("route"), "path", None)
    if own is None:
        return "none"
    # The address of a route of a router in a router is without that of the outer one.
    outer = _API if scope["path"].startswith(f"{_API}/") and not own.startswith(f"{_API}/") else ""
    return outer + _CONVERTER.sub("}", own)


@dataclass(frozen=True, slots=True)
class WithHeaders:
    """Puts headers on every answer, where the route did not set them itself."""

    app: ASGIApp
    hosting: Hosting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self.hosting.address.startswith("https://"):
                    headers.setdefault("Strict-Transport-Security", "max-age=31536000")
            await send(message)

        await self.app(scope, receive, add)


@dataclass(frozen=True, slots=True)
class OwnSite:
    """Refuses what another web site has a browser do: any page may send requests to a server of this machine.

    On loopback the name in `Host` must be one of our own, so that nobody else's name leads here (DNS rebinding).
    """

    app: ASGIApp
    hosting: Hosting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and (why := self._why_not(scope["method"], Headers(scope=scope))):
            advice = "use the address that the server was started with (`bisect serve --address`), from its own pages"
            await answer(scope["state"]["request_id"], 403, why, advice)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _why_not(self, method: str, headers: Headers) -> str | None:
        host = headers.get("host", "")
        if self.hosting.is_loopback and _name(f"//{host}") not in self._names():
            return "the request was made for another host"
        # A page cannot add this header to a request to another site without asking first, which is not allowed here; but a
        # browser adds a password of its own by itself, which is no token.
        if method in _SAFE or headers.get("authorization", "").lower().startswith("bearer "):
            return None
        origin = headers.get("origin")
        is_foreign = origin is not None and _place(origin) not in {host, _place(self.hosting.address)} - {""}
        if is_foreign or headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
            return "the request comes from another web site"
        return None

    def _names(self) -> set[str]:
        return {"localhost", "127.0.0.1", "::1", self.hosting.host.strip("[]").lower(), _name(self.hosting.address)}


def _place(address: str) -> str:
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """Refuses bodies that are too large, also such as do not say their size, and such as do not arrive."""

    app: ASGIApp
    limits: Mapping[str, int] = field(default_factory=lambda: LARGER)
    patience: float = PATIENCE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.limits.get(scope["path"], MOST_BYTES)
        body = _Body(receive, send, scope, most, self.patience)
        said = Headers(scope=scope).get("content-length", "0")
        if said.isdecimal() and int(said) > most:
            body.is_too_large = True
            await body.refuse()
            return
        await self.app(scope, body.receive, body.send)


@dataclass(slots=True)
class _Body:
    """The body of one request on its way in; once it was refused, the answer of the app is replaced."""

    _receive: Receive
    _send: Send
    _scope: Scope
    most: int
    patience: float
    is_too_large: bool = False
    is_late: bool = False
    _seen: int = 0
    _is_whole: bool = False
    _deadline: float | None = None
    _is_answered: bool = False

    async def receive(self) -> Message:
        """The next piece. Raises `OSError` when there is to be none."""
        if self._is_whole:
            return await self._receive()
        clock = asyncio.get_running_loop().time
        self._deadline = self._deadline or clock() + self.patience
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, self._deadline - clock()))
        except TimeoutError:
            self.is_late = True
            raise OSError("the body did not arrive") from None
        self._seen += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._seen > self.most:
            self.is_too_large = True
            raise OSError("the body is too large")
        return message

    async def send(self, message: Message) -> None:
        """Pass an answer on, or ours in its place."""
        if not (self.is_too_large or self.is_late) or self._is_answered:
            if message["type"] == "http.response.start":
                self._is_answered = True
            await self._send(message)
        elif message["type"] == "http.response.start":
            await self.refuse()

    async def refuse(self) -> None:
        """Say why the body was not taken."""
        advice = f"send at most {self.most:_} bytes".replace("_", " ")
        status, what = (413, "the body is too large") if self.is_too_large else (408, "the body did not arrive in time")
        response = answer(self._scope["state"]["request_id"], status, what, advice, headers={"Connection": "close"})
        await response(self._scope, self._receive, self._send)


@dataclass(frozen=True, slots=True)
class WithoutDefects:
    """Answers a defect of ours with its id alone, and logs the rest."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        is_begun = False

        async def note(message: Message) -> None:
            nonlocal is_begun
            is_begun = is_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, note)
        except Exception as error:
            if scope["type"] != "http":
                raise
            number = scope["state"]["request_id"]
            trace = "".join(traceback.format_exception(error))
            _LOG.error("a defect: %s", type(error).__name__, extra={"request": number, "traceback": trace})
            if is_begun:  # too late to say so: the connection breaks, which the client notices
                raise
            defect = answer(number, 500, "the server has a defect", f"tell whoever runs it the id {number}")
            await defect(scope, receive, send)
