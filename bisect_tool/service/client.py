"""What asks a server: `bisect submit`, `bisect watch` and others. Errors of the server are the errors of `bisect run`."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import requests

from bisect_tool import __version__, errors
from bisect_tool.errors import BisectError, ServerRefused, ServerUnreachable

API = "/api/v1"
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0)  # seconds before a request is made again that got no answer
TIMEOUT = (
    10.0,
    60.0,
)  # seconds to connect, and between two pieces of an answer: a stream has a sign of life every 15 s
MOST_WAIT = 120.0  # seconds that the server may ask for
_AGAIN = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Told:
    """One event of a stream."""

    id: int
    kind: str
    body: Mapping[str, Any]


@dataclass(slots=True)
class Client:
    """A server at `address`, without a slash at the end. `sleep` waits for seconds, `tell` hears why.

    `pauses` are the seconds before each further try of a request that got no answer.

    Every method raises `ServerUnreachable` and `ServerRefused`, and the error that the server tells of, such as `SpecError`.
    """

    address: str
    token: str | None = field(default=None, repr=False)
    sleep: Callable[[float], None] = time.sleep
    tell: Callable[[str], None] = lambda _line: None
    session: requests.Session = field(default_factory=requests.Session, repr=False)
    pauses: Sequence[float] = PAUSES

    def __post_init__(self) -> None:
        self.session.headers["User-Agent"] = f"bisect/{__version__}"
        if self.token:
            self.session.auth = self._show_token  # as a header it would give way to a password of ~/.netrc

    def submit(self, spec: str, files: Sequence[tuple[str, bytes]], source: str | None = None) -> dict[str, Any]:
        """Hand in a question; gives `is_new`, `question` and `job`. Doing it twice is the same as doing it once."""
        parts = [{"path": path, "base64": base64.b64encode(content).decode()} for path, content in files]
        return self.post("/questions", {"spec": spec, "files": parts, "source": source})

    def question(self, question: str) -> dict[str, Any]:
        """A question as it stands."""
        return self.get(f"/questions/{question}")

    def report(self, question: str) -> dict[str, Any] | None:
        """The report of a question; None without one."""
        try:
            return self.get(f"/questions/{question}/report.json")
        except NotThere:
            return None

    def events(self, question: str, after: int = 0) -> Iterator[Told]:
        """The events of a question until it has ended; a stream that breaks is opened again where it broke."""
        last, failed = after, 0
        while True:
            try:
                for told in self._stream(question, last):
                    last, failed = max(last, told.id), 0
                    yield told
                    if told.kind == "end":
                        return
                pause = 1.0  # the server ended it: it stops, and another one may start
            except ServerUnreachable as error:
                if failed >= len(PAUSES):
                    raise
                pause, failed = PAUSES[failed], failed + 1
                self.tell(f"{error.what}; asking again in {pause:.0f} s")
            self.sleep(pause)

    def get(self, path: str) -> dict[str, Any]:
        """What the server says at a path of its API."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """What the server says to something that is handed in."""
        return self._ask("POST", path, body)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        """An answer; a request that got none is made again. Every request of this client may be made twice."""
        for pause in (*self.pauses, None):
            try:
                response = self._send(method, path, json=body)
            except ServerUnreachable as error:
                if pause is None:
                    raise
                self.tell(f"{error.what}; asking again in {pause:.0f} s")
                self.sleep(pause)
                continue
            if response.status_code in _AGAIN and pause is not None:
                self.sleep(_wanted_pause(response, pause))
                continue
            if not response.ok:
                raise _error(response, self.address)
            return self._read(response)
        raise AssertionError("unreachable")

    def _send(self, method: str, path: str, **how: Any) -> requests.Response:
        try:
            return self.session.request(
                method, f"{self.address}{API}{path}", timeout=TIMEOUT, allow_redirects=False, **how
            )
        except requests.RequestException as error:
            raise self._unreachable(f"no answer ({type(error).__name__})") from error

    def _read(self, response: requests.Response) -> dict[str, Any]:
        try:
            found = response.json()
        except ValueError as error:
            raise self._unreachable("the answer is not that of a server of bisect") from error
        if not isinstance(found, dict):
            raise self._unreachable("the answer is not that of a server of bisect")
        return found

    def _stream(self, question: str, last: int) -> Iterator[Told]:
        """One connection's events. Raises `ServerUnreachable` when it breaks."""
        path = f"/questions/{question}/events"
        headers = {"Last-Event-ID": str(last), "Accept": "text/event-stream"}
        response = self._send("GET", path, params={"until_end": "true"}, headers=headers, stream=True)
        with response:
            if response.status_code in _AGAIN:
                raise self._unreachable(f"status {response.status_code}")
            if response.status_code != requests.codes.ok:  # also where a proxy sends on to another address
                raise _error(response, self.address)
            kind = response.headers.get("Content-Type", "")
            if not kind.startswith("text/event-stream"):  # but a page to sign in, for instance
                raise self._unreachable(f"what came is {kind or 'of no kind'}, no stream of events")
            try:
                yield from read_stream(lines_of(response.iter_content(None)))
            except (requests.RequestException, ValueError, KeyError, TypeError) as error:
                raise self._unreachable(f"the stream of events broke ({type(error).__name__})") from error

    def _show_token(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self.token}"
        return request

    def _unreachable(self, why: str) -> ServerUnreachable:
        return ServerUnreachable(
            f"the server does not answer as it should: {why}",
            where=self.address,
            advice="check --server or BISECT_SERVER, and that `bisect serve` runs there",
        )


class NotThere(ServerRefused):
    """The server has no such thing."""


def lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream as soon as each is whole, without their ends: one or two characters, wherever a piece ends."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r")


def read_stream(lines: Iterator[bytes]) -> Iterator[Told]:
    """The events of a stream as `text/event-stream` has them; an event with a name of its own has that as its kind.

    Raises `ValueError`, `KeyError` or `TypeError` for what is no event of ours.
    """
    name = ""
    data: list[bytes] = []
    for line in lines:
        if not line:
            if data:
                yield _told(name, b"\n".join(data))
            name, data = "", []
            continue
        key, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if key == b"event":
            name = value.decode()
        elif key == b"data":
            data.append(value)


def _told(name: str, data: bytes) -> Told:
    found = json.loads(data)
    if name:
        return Told(0, name, found)
    return Told(int(found["id"]), str(found["kind"]), found["body"])


def _wanted_pause(response: requests.Response, usual: float) -> float:
    wanted = response.headers.get("Retry-After", "")
    return min(float(wanted), MOST_WAIT) if wanted.isascii() and wanted.isdecimal() else usual


def _error(response: requests.Response, address: str) -> BisectError:
    """The error that an answer tells of."""
    try:
        problem = response.json()
        what, advice = str(problem["detail"]), str(problem["advice"])
    except (ValueError, KeyError, TypeError):
        return ServerUnreachable(
            f"the server answered with status {response.status_code}, not as a server of bisect does",
            where=address,
            advice="check --server or BISECT_SERVER",
        )
    where = problem.get("where") or address
    if mistakes := [str(one) for one in problem.get("mistakes", ()) if str(one) not in what]:
        what = "\n".join((what, *(f"  {one}" for one in mistakes)))
    kind = NotThere if response.status_code == requests.codes.not_found else error_of(problem.get("exit_status"))
    return kind(what, where=where, advice=advice)


def error_of(status: object) -> type[BisectError]:
    """The class of errors with this exit status; `ServerRefused` where there is none."""
    found = (one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, BisectError))
    return next((one for one in found if one is not BisectError and one.status == status), ServerRefused)
