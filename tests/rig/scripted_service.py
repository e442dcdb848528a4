"""A server that answers one request after the other as it was told, for what asks a service."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.rig.loopback import LoopbackHandler, LoopbackServer


@dataclass(frozen=True, slots=True)
class Said:
    """One answer. `pieces` are sent as they are; with `breaks` the connection ends in the middle of it."""

    status: int = 200
    pieces: tuple[bytes, ...] = ()
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/event-stream; charset=utf-8"),)
    breaks: bool = False


def said(body: Any, status: int = 200, **headers: str) -> Said:
    """An answer in JSON."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Said(status, (json.dumps(body).encode(),), named)


def problem(status: int, what: str, **more: Any) -> Said:
    """An answer that says what went wrong."""
    headers = {name: more.pop(name) for name in ("Retry_After",) if name in more}
    return said({"detail": what, "advice": "do so", "mistakes": [], **more}, status, **headers)


@dataclass(slots=True)
class Scripted:
    """The server: its address, and the requests that came: method, path, headers and body."""

    address: str
    asked: list[tuple[str, str, dict[str, str], Any]] = field(default_factory=list)


@contextmanager
def scripted_service(answers: Sequence[Said]) -> Iterator[Scripted]:
    """Answer so many requests, in this order; one that is too many breaks."""
    left = list(answers)

    class Handler(LoopbackHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:  # noqa: N802  the name is http.server's
            self._answer(None)

        def do_POST(self) -> None:  # noqa: N802  likewise
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            scripted.asked.append((self.command, self.path, dict(self.headers), body))
            self.close_connection = True
            if not left:
                return
            one = left.pop(0)
            self.send_response(one.status)
            for name, value in (*one.headers, ("Transfer-Encoding", "chunked"), ("Connection", "close")):
                self.send_header(name, value)
            self.end_headers()
            for piece in one.pieces:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            if not one.breaks:
                self.wfile.write(b"0\r\n\r\n")

    server = LoopbackServer(0, Handler)
    scripted = Scripted(f"http://127.0.0.1:{server.port}")
    with server.at_work("scripted service"):
        yield scripted
