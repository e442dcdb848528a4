"""`HEAD` for every address that has `GET`: the same status and headers, and no body (RFC 9110, 9.3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(frozen=True, slots=True)
class HeadAsGet:
    """Asks the app for what GET would give, and sends its head alone; of a stream nothing but that is waited for."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self._head(scope, receive, send)
        else:
            await self.app(scope, receive, _naming_head(send))

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Not changed in place: the server goes by the method to know that no body is to come.
        asked = {**scope, "method": "GET"}
        with anyio.CancelScope() as rest:

            async def without_body(message: Message) -> None:
                if message["type"] != "http.response.start":
                    return
                await _naming_head(send)(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                if "content-length" not in MutableHeaders(scope=message):
                    rest.cancel()  # a stream has no end

            try:
                await self.app(asked, receive, without_body)
            finally:
                if "route" in asked:
                    scope["route"] = asked["route"]  # for the log, which is around this


def _naming_head(send: Send) -> Send:
    """The same, with HEAD among the methods that an address is said to have."""

    async def name(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            methods = [one.strip() for one in headers.get("allow", "").split(",")]
            if "GET" in methods and "HEAD" not in methods:
                headers["Allow"] = ", ".join([*methods, "HEAD"])
        await send(message)

    return name
