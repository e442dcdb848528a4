"""A receiver of webhooks on 127.0.0.1: it keeps what came, and answers as it is told."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.rig.loopback import LoopbackHandler, LoopbackServer


@dataclass(frozen=True, slots=True)
class Delivery:
    """A request; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered; status 0: nothing, the connection breaks after the request was read.

    `strikes` is called with the port of the client before it hears anything.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    strikes: Callable[[int], None] | None = None


@dataclass
class HookReceiver:
    """`answers` are given in their order, then 200 for ever."""

    url: str = ""
    deliveries: list[Delivery] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)


@contextlib.contextmanager
def receive_hooks() -> Iterator[HookReceiver]:
    """Receive until the block ends."""
    receiver = HookReceiver()
    with _Server(receiver).at_work("hook receiver"):
        yield receiver


class _Server(LoopbackServer):
    def __init__(self, receiver: HookReceiver) -> None:
        super().__init__(0, _Handler)
        self.receiver = receiver
        receiver.url = f"http://127.0.0.1:{self.port}/hook?for=tests"


class _Handler(LoopbackHandler):
    server: _Server

    def _take(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {key.lower(): text for key, text in self.headers.items()}
        receiver.deliveries.append(Delivery(self.path, headers, body))
        answer = receiver.answers.pop(0) if receiver.answers else Answer(200)
        if answer.strikes:
            answer.strikes(self.client_address[1])
        if not answer.status:
            self.reset()
            return
        self.send_response(answer.status)
        for key, text in answer.headers.items():
            self.send_header(key, text)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = _take  # noqa: N815 - the names are those of the base class
