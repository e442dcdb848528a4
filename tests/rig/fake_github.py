"""A server on 127.0.0.1 that is GitHub for those who talk there: issues with comments, reactions, limits, faults.

    with serve_github() as github:
        github.add_issue("pytorch/pytorch", 12, "Title", "Body")
        github.plant("create", lost_reply())      # the comment is made, and nobody hears of it
        ...
        assert [one["body"] for one in github.comments("pytorch/pytorch", 12)] == ["…"]

The shapes follow https://docs.github.com/en/rest/issues/comments; only fields that a client of this project could read.
Deliveries of webhooks are in `fake_deliveries`.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt

from tests.rig.loopback import LoopbackHandler, LoopbackServer

US = "bisect-bot"
TOKEN = "ghp_token_of_the_tests"
LONGEST = 65_536
REACTIONS = {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
_ROUTES = (
    ("me", "GET", re.compile(r"/user")),
    ("app", "GET", re.compile(r"/app")),
    ("installation", "GET", re.compile(r"/repos/(?P<repository>[^/]+/[^/]+)/installation")),
    ("token", "POST", re.compile(r"/app/installations/(?P<installation>\d+)/access_tokens")),
    ("list", "GET", re.compile(r"/repos/(?P<repository>[^/]+/[^/]+)/issues/(?P<number>\d+)/comments")),
    ("create", "POST", re.compile(r"/repos/(?P<repository>[^/]+/[^/]+)/issues/(?P<number>\d+)/comments")),
    ("issue", "GET", re.compile(r"/repos/(?P<repository>[^/]+/[^/]+)/issues/(?P<number>\d+)")),
    ("edit", "PATCH", re.compile(r"/repos/(?P<repository>[^/]+/[^/]+)/issues/comments/(?P<comment>\d+)")),
    ("react", "POST", re.compile(r"/repos/(?P<repository>[^/]+/[^/]+)/issues/comments/(?P<comment>\d+)/reactions")),
)


@dataclass(slots=True)
class Fault:
    """What happens instead of a right answer, to the next `times` requests of a kind (None: to all).

    `is_done`: the request is carried out nevertheless. `hangs_up`: nobody hears an answer. `waits_for`: the answer comes when
    this is set. `strikes` is called with the port of the client before it hears anything.
    """

    status: int = 500
    message: str = "Server Error"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    is_done: bool = False
    hangs_up: bool = False
    waits_for: threading.Event | None = None
    strikes: Callable[[int], None] | None = None
    times: int | None = 1


def lost_reply() -> Fault:
    """It is done, and the connection breaks before the answer."""
    return Fault(is_done=True, hangs_up=True)


def lost_request() -> Fault:
    """The connection breaks before anything is done."""
    return Fault(hangs_up=True)


def server_error(*, is_done: bool = False, times: int | None = 1) -> Fault:
    """Status 502, with a page of HTML."""
    return Fault(502, body=b"<html><body>Unicorn!</body></html>", is_done=is_done, times=times)


def secondary_limit(retry_after: int, *, status: int = 403, times: int | None = 1) -> Fault:
    """Too much content in a short time."""
    text = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return Fault(status, text, {"Retry-After": str(retry_after), "X-RateLimit-Remaining": "4000"}, times=times)


def hourly_limit(reset: int, *, times: int | None = 1) -> Fault:
    """The requests of this hour are used up until `reset` (seconds since 1970)."""
    headers = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
    return Fault(403, "API rate limit exceeded for user ID 1.", headers, times=times)


def unsaid_limit(*, times: int | None = 1) -> Fault:
    """An old limit that does not say how long it lasts."""
    text = "You have triggered an abuse detection mechanism. Please retry your request again later."
    return Fault(403, text, times=times)


def locked() -> Fault:
    """Nobody without the right to write may comment."""
    return Fault(403, "Unable to create comment because issue is locked.")


def moved() -> Fault:
    """The repository has another name now."""
    headers = {"Location": "https://api.github.com/repositories/1/issues/1"}
    return Fault(301, "Moved Permanently", headers, times=None)


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came: `kind` is one of the routes or `other`; `status` what was answered, 0 for nothing."""

    kind: str
    method: str
    path: str
    headers: Mapping[str, str]
    content: Any
    status: int


@dataclass
class FakeApp:
    """A GitHub App that is installed in `repositories`; its tokens say that they end at `expires_at`."""

    public_key: str
    slug: str = "our-app"
    repositories: frozenset[str] = frozenset()
    expires_at: str = "2027-01-15T09:00:00Z"
    claims: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class FakeGitHub:
    """The state of a running server. `url` is the address of the API; tests may change everything while it runs."""

    url: str = ""
    tokens: dict[str, str] = field(default_factory=lambda: {TOKEN: US})  # token → login
    app: FakeApp | None = None
    issues: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    written: list[dict[str, Any]] = field(default_factory=list)  # comments of all issues, oldest first
    reactions: list[tuple[int, str, str]] = field(default_factory=list)  # comment, who, which
    requests: list[Request] = field(default_factory=list)
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    lock: threading.Condition = field(default_factory=threading.Condition)
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(3_000_000_001, 3_001_000_000)))

    def add_issue(self, repository: str, number: int, title: str = "A failure", body: str = "", **more: Any) -> None:
        """Open an issue."""
        address = f"https://github.com/{repository}/issues/{number}"
        self.issues[repository.lower(), number] = {
            "number": number, "title": title, "body": body, "html_url": address, "state": "open", "locked": False,
            "created_at": "2026-11-20T10:00:00Z", "user": _user("reporter"), "author_association": "NONE", **more,
        }  # fmt: skip

    def add_comment(self, repository: str, number: int, author: str, body: str, **more: Any) -> dict[str, Any]:
        """Somebody writes a comment."""
        with self.lock:
            made = next(self.numbers)
            comment = {
                "id": made, "body": body, "user": _user(author), "created_at": "2026-11-21T10:00:00Z",
                "html_url": f"https://github.com/{repository}/issues/{number}#issuecomment-{made}",
                "author_association": "NONE", "performed_via_github_app": None, **more,
            }  # fmt: skip
            self.written.append({"where": (repository.lower(), number), **comment})
            return comment

    def comments(self, repository: str, number: int) -> list[dict[str, Any]]:
        """The comments of an issue, oldest first."""
        with self.lock:
            return [one for one in self.written if one["where"] == (repository.lower(), number)]

    def plant(self, kind: str, fault: Fault) -> None:
        """Let `fault` act on requests of a kind."""
        self.faults.append((kind, fault))

    def count(self, *kinds: str) -> int:
        """How many requests of these kinds came."""
        return sum(one.kind in kinds for one in self.requests)

    def wait_for(self, kind: str, number: int = 1, seconds: float = 120) -> None:
        """Wait until so many requests of a kind were answered."""
        with self.lock:
            if not self.lock.wait_for(lambda: self.count(kind) >= number, seconds):
                raise AssertionError(f"{self.count(kind)} requests of {kind} after {seconds} s: {self.requests}")

    def striking(self, kind: str) -> Fault | None:
        """The fault that acts on this request."""
        for of_kind, fault in self.faults:
            if of_kind == kind and fault.times != 0:
                fault.times = None if fault.times is None else fault.times - 1
                return fault
        return None


@contextlib.contextmanager
def serve_github() -> Iterator[FakeGitHub]:
    """Be GitHub until the block ends."""
    github = FakeGitHub()
    with _Server(github).at_work("fake github"):
        yield github


class _Server(LoopbackServer):
    def __init__(self, github: FakeGitHub) -> None:
        super().__init__(0, _Handler)
        self.github = github
        github.url = f"http://127.0.0.1:{self.port}"


class _Handler(LoopbackHandler):
    server: _Server

    def _serve(self) -> None:
        github, method = self.server.github, self.command
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind, found = _route(method, urlsplit(self.path).path)
        content = json.loads(body) if body else None
        with github.lock:
            fault = github.striking(kind)
            reply = _Reply(200, None)
            if fault is None or fault.is_done:
                reply = self._reply(kind, found, content)
            if fault:
                reply = _Reply(fault.status, {"message": fault.message}, dict(fault.headers), fault.body)
            status = 0 if fault and fault.hangs_up else reply.status
            headers = {key.lower(): text for key, text in self.headers.items()}
            github.requests.append(Request(kind, method, self.path, headers, content, status))
            github.lock.notify_all()
        if fault and fault.strikes:
            fault.strikes(self.client_address[1])
        if fault and fault.waits_for:
            fault.waits_for.wait(30)
        if fault and fault.hangs_up:
            self.reset()
            return
        self._send(reply)

    do_GET = do_POST = do_PATCH = _serve  # noqa: N815 - the names are those of the base class

    def _reply(self, kind: str, found: Mapping[str, str], content: Any) -> _Reply:
        github = self.server.github
        if kind in {"app", "installation", "token"}:
            return self._of_app(kind, found)
        login = github.tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
        if login is None:
            return _Reply(401, {"message": "Bad credentials"})
        repository = found.get("repository", "").lower()
        match kind:
            case "me":
                return _Reply(200, _user(login))
            case "issue" | "list" | "create":
                where = (repository, int(found["number"]))
                if where not in github.issues:
                    return _Reply(404, {"message": "Not Found"})
                if kind == "issue":
                    return _Reply(200, github.issues[where])
                return self._paged(where) if kind == "list" else self._create(where, login, content)
            case "edit":
                return self._edit(repository, int(found["comment"]), login, content)
            case "react":
                return self._react(repository, int(found["comment"]), login, content)
            case _:
                return _Reply(404, {"message": "Not Found"})

    def _of_app(self, kind: str, found: Mapping[str, str]) -> _Reply:
        """What an App asks for with a proof that it has the private key."""
        app = self.server.github.app
        try:
            assert app is not None
            sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
            # Times are left to those who look at the claims: tests have clocks of their own.
            claims = jwt.decode(sent, app.public_key, ["RS256"], options={"verify_exp": False, "verify_iat": False})
        except (AssertionError, jwt.PyJWTError):
            return _Reply(401, {"message": "A JSON web token could not be decoded"})
        app.claims.append(claims)
        match kind:
            case "app":
                return _Reply(200, {"slug": app.slug, "id": int(claims["iss"])})
            case "installation" if found["repository"].lower() in app.repositories:
                return _Reply(200, {"id": 17})
            case "token" if found["installation"] == "17":
                made = f"ghs_{len(app.claims)}"
                self.server.github.tokens[made] = f"{app.slug}[bot]"
                return _Reply(201, {"token": made, "expires_at": app.expires_at})
            case _:
                return _Reply(404, {"message": "Not Found"})

    def _paged(self, where: tuple[str, int]) -> _Reply:
        github = self.server.github
        asked = parse_qs(urlsplit(self.path).query)
        size, page = min(100, int(asked.get("per_page", ["30"])[0])), int(asked.get("page", ["1"])[0])
        every = [_shown(one) for one in github.comments(*where)]
        headers = {}
        if page * size < len(every):
            path = urlsplit(self.path).path
            headers["Link"] = f'<{github.url}{path}?per_page={size}&page={page + 1}>; rel="next"'
        return _Reply(200, every[(page - 1) * size : page * size], headers)

    def _create(self, where: tuple[str, int], login: str, content: Any) -> _Reply:
        github = self.server.github
        if github.issues[where]["locked"]:
            return _Reply(403, {"message": "Unable to create comment because issue is locked."})
        if mistake := _mistake(content):
            return mistake
        return _Reply(201, github.add_comment(*where, login, content["body"]))

    def _edit(self, repository: str, number: int, login: str, content: Any) -> _Reply:
        comment = self._comment(repository, number)
        if comment is None:
            return _Reply(404, {"message": "Not Found"})
        if comment["user"]["login"] != login:
            return _Reply(403, {"message": "Resource not accessible by personal access token"})
        if mistake := _mistake(content):
            return mistake
        comment["body"] = content["body"]
        return _Reply(200, _shown(comment))

    def _react(self, repository: str, number: int, login: str, content: Any) -> _Reply:
        github = self.server.github
        if self._comment(repository, number) is None:
            return _Reply(404, {"message": "Not Found"})
        if content["content"] not in REACTIONS:
            return _Reply(422, {"message": "Validation Failed"})
        reaction = (number, login, content["content"])
        is_new = reaction not in github.reactions
        github.reactions += [reaction] if is_new else []
        return _Reply(201 if is_new else 200, {"id": 1, "content": content["content"]})

    def _comment(self, repository: str, number: int) -> dict[str, Any] | None:
        written = self.server.github.written
        return next((one for one in written if one["id"] == number and one["where"][0] == repository), None)

    def _send(self, reply: _Reply) -> None:
        body = json.dumps(reply.content).encode() if reply.body is None else reply.body
        with contextlib.suppress(ConnectionError):
            self.send_response(reply.status)
            headers = {"Content-Type": "application/json; charset=utf-8", "X-RateLimit-Remaining": "4999"}
            for key, text in (headers | reply.headers).items():
                self.send_header(key, text)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


@dataclass(slots=True)
class _Reply:
    status: int
    content: Any
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


def _route(method: str, path: str) -> tuple[str, dict[str, str]]:
    for kind, of_method, pattern in _ROUTES:
        if method == of_method and (match := pattern.fullmatch(path)):
            return kind, match.groupdict()
    return "other", {}


def _user(login: str) -> dict[str, Any]:
    return {"login": login, "type": "Bot" if login.endswith(("[bot]", "-bot")) else "User"}


def _shown(comment: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in comment.items() if key != "where"}


def _mistake(content: Any) -> _Reply | None:
    body = content.get("body") if isinstance(content, dict) else None
    if isinstance(body, str) and 0 < len(body) <= LONGEST:
        return None
    said = {"resource": "IssueComment", "code": "unprocessable", "field": "data"}
    return _Reply(
        422, {"message": f"Validation Failed: Body is too long (maximum is {LONGEST} characters)", "errors": [said]}
    )
