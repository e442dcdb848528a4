"""The calls of GitHub's API that talk to people: comments and reactions on issues.

https://docs.github.com/en/rest/issues/comments and https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
from requests.auth import AuthBase

from bisect_tool import __version__
from bisect_tool.service.github.credentials import Credentials
from bisect_tool.service.github.faults import Limited, Rejected, TokenRefused, Unclear
from bisect_tool.service.github.issue import Issue

API = "https://api.github.com"
PER_PAGE = 100
MOST_PAGES = 100  # of comments of one issue
MOST_BYTES = 64_000_000  # of an answer: a hundred comments of 65,536 characters
TIMEOUTS = (10.0, 30.0)  # seconds to connect, and between two parts of an answer
IN_ALL = 60.0  # seconds for one answer
UNSAID_WAIT = 60.0  # GitHub: without a header that says more, wait for a minute
LONGEST_WAIT = 3700.0  # seconds; limits are those of an hour
_ODD = "the answer is not what GitHub's API gives: something may stand in between"
T = TypeVar("T")
_LIMITED = {HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: `author` is the login of who wrote it, `address` the page where people see it."""

    id: int
    author: str
    body: str
    address: str


@dataclass
class GitHubClient:
    """Asks the API at `api` (without a slash at the end).

    `clock` gives seconds since 1970. Every method raises the errors of `faults`. Nothing is asked before a limit is over.
    """

    credentials: Credentials
    api: str = API
    clock: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
    timeouts: tuple[float, float] = TIMEOUTS
    _login: str = ""
    _closed_until: float = 0.0
    _session: requests.Session = field(default_factory=requests.Session, repr=False)

    def me(self) -> str:
        """The login that our comments have."""
        if not self._login:
            self._login = self._proven(lambda: self.credentials.login(self._as))
        return self._login

    def own_comments(self, issue: Issue) -> list[Comment]:
        """Our comments on an issue, oldest first."""
        me = self.me().lower()
        return [comment for comment in self._comments(issue) if comment.author.lower() == me]

    def create(self, issue: Issue, body: str) -> Comment:
        """Write a comment."""
        return self._ask("POST", issue, f"{self._of(issue)}/comments", _comment, {"body": body})

    def edit(self, issue: Issue, comment: int, body: str) -> Comment:
        """Replace the text of a comment of ours."""
        address = f"{self.api}/repos/{issue.repository}/issues/comments/{comment}"
        return self._ask("PATCH", issue, address, _comment, {"body": body})

    def react(self, issue: Issue, comment: int, content: str) -> None:
        """React to a comment; the same reaction a second time changes nothing."""
        address = f"{self.api}/repos/{issue.repository}/issues/comments/{comment}/reactions"
        self._ask("POST", issue, address, lambda _: None, {"content": content})

    def _comments(self, issue: Issue) -> Iterator[Comment]:
        address: str | None = f"{self._of(issue)}/comments?per_page={PER_PAGE}"
        for _ in range(MOST_PAGES):
            answer = self._answer("GET", address or "", self._header(issue), None)
            yield from _picked(answer.content, lambda page: [_comment(one) for one in page])
            address = answer.next
            if address is None:
                return
            if _server(address) != _server(self.api):
                raise Unclear("the next page of comments lies on another server")
        raise Rejected(f"the issue has more than {MOST_PAGES * PER_PAGE:,} comments", HTTPStatus.OK)

    def _of(self, issue: Issue) -> str:
        return f"{self.api}/repos/{issue.repository}/issues/{issue.number}"

    def _ask(self, method: str, issue: Issue, address: str, pick: Callable[[Any], T], content: Mapping[str, str]) -> T:
        return _picked(self._answer(method, address, self._header(issue), content).content, pick)

    def _header(self, issue: Issue) -> str:
        """The header Authorization for calls about an issue."""
        return self._proven(lambda: self.credentials.header(self._as, issue.repository))

    def _proven(self, say: Callable[[], str]) -> str:
        """What the credentials say."""
        try:
            return say()
        except ValueError as error:
            raise TokenRefused(str(error)) from None
        except (KeyError, TypeError) as error:
            raise Unclear(_ODD) from error

    def _as(self, method: str, path: str, header: str) -> Mapping[str, Any]:
        """A call that says who we are."""
        return _picked(self._answer(method, f"{self.api}{path}", header, None).content, _plain)

    def _answer(self, method: str, address: str, header: str, content: Mapping[str, str] | None) -> _Answer:
        if (left := self._closed_until - self.clock()) > 0:
            raise Limited("waiting for the end of a rate limit", left)
        try:
            answer = self._heard(method, address, header, content)
        except requests.RequestException as error:
            raise Unclear(f"no answer of GitHub: {type(error).__name__}") from error
        self._note_limit(answer)
        if HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            return answer
        raise self._fault(answer)

    def _heard(self, method: str, address: str, header: str, content: Mapping[str, str] | None) -> _Answer:
        headers = {
            "Accept": "application/vnd.github+json",
            "User-Agent": f"bisect-tool/{__version__}",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        # Redirections are not followed: a renamed repository is not the one that was allowed.
        with self._session.request(
            method,
            address,
            headers=headers,
            json=content,
            timeout=self.timeouts,
            auth=_Signed(header),
            allow_redirects=False,
            stream=True,
        ) as response:
            body = self._read(response)
            lower = {name.lower(): text for name, text in response.headers.items()}
            return _Answer(response.status_code, lower, body, response.links.get("next", {}).get("url"))

    def _read(self, response: requests.Response) -> bytes:
        """The body. Raises `Timeout` for one that takes too long, or is too long."""
        end, parts, size = self.monotonic() + IN_ALL, [], 0
        for part in response.iter_content(65536):
            parts.append(part)
            size += len(part)
            if size > MOST_BYTES or self.monotonic() > end:
                raise requests.Timeout
        return b"".join(parts)

    def _note_limit(self, answer: _Answer) -> None:
        """After the last request of the hour the next one would be refused, and count against us."""
        reset = answer.headers.get("x-ratelimit-reset", "")
        if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
            self._close(max(0.0, float(reset) - self.clock()) + 1.0)

    def _close(self, seconds: float) -> float:
        seconds = min(seconds, LONGEST_WAIT)
        self._closed_until = max(self._closed_until, self.clock() + seconds)
        return seconds

    def _fault(self, answer: _Answer) -> Exception:
        status, said = answer.status, answer.message
        if status in _LIMITED and (wait := self._asked_to_wait(answer)) is not None:
            return Limited(f"GitHub's rate limit: {said}", self._close(wait))
        if status == HTTPStatus.UNAUTHORIZED:
            self.credentials.forget()
            return TokenRefused("GitHub does not accept the token")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return Unclear(f"GitHub answered with status {status}")
        if status >= HTTPStatus.BAD_REQUEST:
            return Rejected(f"GitHub refuses this: {said}", status)
        return Rejected("the repository has moved: correct the list of repositories", status)

    def _asked_to_wait(self, answer: _Answer) -> float | None:
        """Seconds until GitHub answers again; None when it is no rate limit."""
        after, reset = answer.headers.get("retry-after", ""), answer.headers.get("x-ratelimit-reset", "")
        if after.isdecimal():
            return float(after)
        if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
            return max(0.0, float(reset) - self.clock()) + 1.0
        said = answer.message.lower()
        is_limit = answer.status == HTTPStatus.TOO_MANY_REQUESTS or "rate limit" in said or "abuse" in said
        return UNSAID_WAIT if is_limit else None


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes
    next: str | None

    @property
    def message(self) -> str:
        """What GitHub says of it, on one line."""
        try:
            said = str(json.loads(self.content)["message"])
        except (ValueError, KeyError, TypeError):
            said = f"status {self.status}"
        return re.sub(r"[^ -~]+", " ", said)[:200]


@dataclass(frozen=True, slots=True)
class _Signed(AuthBase):
    """The header and nothing else: without this, requests would send what it finds in the .netrc of the user."""

    header: str = field(repr=False)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self.header
        return request


def _plain(answer: Any) -> Mapping[str, Any]:
    if not isinstance(answer, dict):
        raise TypeError(answer)
    return answer


def _picked(content: bytes, pick: Callable[[Any], T]) -> T:
    try:
        return pick(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unclear(_ODD) from error


def _comment(answer: Any) -> Comment:
    author = (answer.get("user") or {}).get("login") or ""  # the author of a comment may have left GitHub
    return Comment(int(answer["id"]), str(author), str(answer.get("body") or ""), str(answer.get("html_url") or ""))


def _server(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc
