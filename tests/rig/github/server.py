"""The HTTP side of `tests.rig.github`: paging, conditional requests, tokens, moved repositories, faults."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tests.rig.github.answers import COMPARE_WITHOUT_PAGING, FILES_PER_PAGE, Repository
from tests.rig.github.faults import GitHubFault

MOST_PER_PAGE = 100


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: `kind` is `repo`, `commit`, `commits`, `compare`, `pulls`, `issue` or `other`; `status` what was answered."""

    kind: str
    path: str
    status: int
    headers: Mapping[str, str]


@dataclass
class GitHub:
    """A running server. `url` is the address of the API.

    `tokens`: only these are accepted (any other answers 401); with `private`, none at all answers 404.
    `moved`: old names of the repository, answered with 301 to the present name on the server
    `moved_to` (left out: this one). `served` may be changed while it runs (a forced push).
    """

    served: Path
    name: str
    url: str = ""
    tokens: frozenset[str] = frozenset()
    private: bool = False
    moved: frozenset[str] = frozenset()
    moved_to: str | None = None
    asked: list[Asked] = field(default_factory=list)
    faults: list[tuple[str, GitHubFault]] = field(default_factory=list)
    issues: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # number → what the API says of it

    def plant(self, kind: str, fault: GitHubFault) -> None:
        """Let `fault` act on requests of a kind (a pattern)."""
        self.faults.append((kind, fault))

    def count(self, kind: str = "*", status: int | None = None) -> int:
        """How many requests of a kind were answered (with this status)."""
        return sum(fnmatchcase(one.kind, kind) and status in {None, one.status} for one in self.asked)

    def striking(self, kind: str) -> GitHubFault | None:
        """The fault that acts on this request."""
        return next((f for pattern, f in self.faults if fnmatchcase(kind, pattern) and f.strikes()), None)


@dataclass(slots=True)
class Reply:
    """An answer: `content` becomes JSON."""

    status: int = 200
    content: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def serve(folder: Path, *, name: str = "pytorch/pytorch", port: int = 0) -> Iterator[GitHub]:
    """Answer about the repository in `folder` until the block ends."""
    github = GitHub(folder, name)
    server = _Server(("127.0.0.1", port), _Handler)
    server.github = github
    github.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="github", daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    github: GitHub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Keep still: the requests are in `GitHub.asked`."""

    def do_GET(self) -> None:
        """Answer, or go wrong."""
        github = self.server.github
        kind = _kind(urlsplit(self.path).path)
        fault = github.striking(kind)
        if fault and fault.hangs_up:
            github.asked.append(Asked(kind, self.path, 0, dict(self.headers)))
            self.close_connection = True
            return
        reply = self._reply(kind)
        headers = {"Content-Type": "application/json; charset=utf-8"} | reply.headers
        status, body = reply.status, json.dumps(reply.content).encode()
        if fault:
            status, body = fault.status, fault.body
            headers = {"Content-Type": "application/json"} | dict(fault.headers)
            if fault.reset_in is not None:
                headers["X-RateLimit-Reset"] = str(int(time.time() + fault.reset_in))
        github.asked.append(Asked(kind, self.path, status, {key.lower(): text for key, text in self.headers.items()}))
        self._send(status, b"" if status == 304 else body, headers)

    def _reply(self, kind: str) -> Reply:
        github = self.server.github
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and github.tokens and token not in github.tokens:
            return Reply(401, {"message": "Bad credentials"})
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        name = "/".join(parts[1:3])
        if name in github.moved:
            return Reply(301, {"message": "Moved Permanently"}, {"Location": self._moved(name)})
        if name != github.name or (github.private and not token):
            return Reply(404, {"message": "Not Found"})
        return self._conditional(self._about(kind, "/".join(parts[4:])))

    def _moved(self, name: str) -> str:
        github = self.server.github
        return f"{github.moved_to or github.url}{self.path.replace(name, github.name, 1)}"

    def _about(self, kind: str, rest: str) -> Reply:
        repository = Repository(self.server.github.served, self.server.github.name, self.server.github.url)
        asked = dict(parse_qsl(urlsplit(self.path).query))
        match kind:
            case "repo":
                return Reply(200, repository.about())
            case "issue":
                issue = self.server.github.issues.get(rest)
                return Reply(200, dict(issue)) if issue is not None else Reply(404, {"message": "Not Found"})
            case "commits":
                return self._list(repository, asked)
            case "compare":
                return self._compare(repository, rest, asked)
            case "commit" | "pulls":
                sha = repository.find(rest.removesuffix("/pulls"))
                if sha is None:
                    return Reply(422, {"message": f"No commit found for SHA: {rest}"})
                return Reply(200, repository.pulls(sha)) if kind == "pulls" else self._commit(repository, sha, asked)
            case _:
                return Reply(404, {"message": "Not Found"})

    def _list(self, repository: Repository, asked: Mapping[str, str]) -> Reply:
        start = repository.find(asked.get("sha", "main"))
        if start is None:
            return Reply(404, {"message": "Not Found"})
        return self._paged(repository.listed(start, asked.get("since"), asked.get("until")), asked, 30)

    def _commit(self, repository: Repository, sha: str, asked: Mapping[str, str]) -> Reply:
        reply = self._paged(repository.files(sha), dict(asked) | {"per_page": str(FILES_PER_PAGE)}, FILES_PER_PAGE)
        reply.content = repository.commit(sha) | {"files": reply.content}
        return reply

    def _compare(self, repository: Repository, rest: str, asked: Mapping[str, str]) -> Reply:
        base, _, head = rest.partition("...")
        first, last = repository.find(base), repository.find(head)
        if first is None or last is None:
            return Reply(404, {"message": "Not Found"})
        answer = repository.compared(first, last)
        if answer is None:
            return Reply(404, {"message": f"No common ancestor between {base} and {head}."})
        if "page" not in asked and "per_page" not in asked:
            answer["commits"] = answer["commits"][-COMPARE_WITHOUT_PAGING:]
            return Reply(200, answer)
        reply = self._paged(answer["commits"], asked, 30)
        reply.content = answer | {"commits": reply.content}
        return reply

    def _paged(self, rows: list[Any], asked: Mapping[str, str], usual: int) -> Reply:
        number = max(1, int(asked.get("page", "1")))
        size = int(asked.get("per_page", usual))
        size = size if size == FILES_PER_PAGE else min(size, MOST_PER_PAGE)
        headers = {}
        if number * size < len(rows):
            path = urlsplit(self.path).path
            query = urlencode(dict(parse_qsl(urlsplit(self.path).query)) | {"page": str(number + 1)})
            headers["Link"] = f'<{self.server.github.url}{path}?{query}>; rel="next"'
        return Reply(200, rows[(number - 1) * size : number * size], headers)

    def _conditional(self, reply: Reply) -> Reply:
        if reply.status != 200:
            return reply
        etag = f'W/"{hashlib.sha256(json.dumps(reply.content).encode()).hexdigest()}"'
        reply.headers |= {
            "ETag": etag,
            "Cache-Control": "private, max-age=60, s-maxage=60",
            "Vary": "Accept, Authorization",
        }
        return Reply(304, None, reply.headers) if self.headers.get("If-None-Match") == etag else reply

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            for key, text in headers.items():
                self.send_header(key, text)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


def _kind(path: str) -> str:
    match path.strip("/").split("/"):
        case ["repos", _, _]:
            return "repo"
        case ["repos", _, _, "commits"]:
            return "commits"
        case ["repos", _, _, "commits", *_, "pulls"]:
            return "pulls"
        case ["repos", _, _, "commits", *_]:
            return "commit"
        case ["repos", _, _, "issues", _]:
            return "issue"
        case ["repos", _, _, "compare", *_]:
            return "compare"
        case _:
            return "other"
