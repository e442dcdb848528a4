"""Asking GitHub's API: answers kept with their ETags, rate limits waited for or explained, every odd answer told apart.

https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

import requests

from bisect_tool import __version__
from bisect_tool.errors import HistoryUnavailable
from bisect_tool.history.answer_cache import AnswerCache, Kept
from bisect_tool.quantities import format_duration

TIMEOUTS = (10.0, 60.0)
PATIENCE = 90.0  # seconds: the longest wait for a rate limit; the limit of an hour is explained instead
_TRIES = 3
_OK, _NOT_MODIFIED, _SERVER_ERROR = 200, 304, 500
_LIMITED = {403, 429}
_UNSAID_WAIT = 60.0  # GitHub: without a header that says more, wait for a minute
Pick = Callable[[Any], Any]


class Refused(Exception):
    """An answer with an error status that means something else to each caller: 404, 409, 422."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an answer, after `pick`; `next` is the address of the page after it."""

    content: Any
    next: str | None


class _Session(requests.Session):
    """After a redirection: the token stays for the same server only, and nothing of the user's .netrc is added."""

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        if _server(response.request.url) != _server(prepared_request.url):
            prepared_request.headers.pop("Authorization", None)


@dataclass
class GitHubSession:
    """A way to `api` (without a slash at the end).

    What is kept is not asked for again for `fresh_for` seconds. `clock` gives seconds since 1970, `pause` waits for as many
    seconds. `was_moved`: some answer came from another address than the one asked for, as of a renamed repository.
    """

    api: str
    token: str | None = field(default=None, repr=False)
    cache: AnswerCache | None = None
    offline: bool = False
    patience: float = PATIENCE
    clock: Callable[[], float] = time.time
    pause: Callable[[float], None] = time.sleep
    was_moved: bool = False
    fresh_for: float = 0.0
    _session: requests.Session = field(default_factory=_Session, repr=False)

    def get(self, path: str, pick: Pick, parameters: Mapping[str, str] | None = None, *, fixed: bool = False) -> Page:
        """What `pick` keeps of the answer to `path` (or to a whole address, from `Page.next`).

        `fixed`: the answer can never change (it is about full hashes), so that what is kept need not be asked for again.

        Raises:
            Refused: status 404, 409 or 422.
            HistoryUnavailable: no answer, or none of use.
        """
        address = path if path.startswith(("http:", "https:")) else f"{self.api}{path}"
        address += f"?{urlencode(parameters)}" if parameters else ""
        kept = self.cache.read(address) if self.cache else None
        if kept and (fixed or self.offline or 0 <= self.clock() - kept.seen < self.fresh_for):
            return Page(kept.content, kept.next)
        if self.offline:
            raise HistoryUnavailable(
                "this was not asked before and the tool is offline", where=address, advice="go online, or give --repo"
            )
        answer = self._answer(address, kept)
        if kept and answer.status_code == _NOT_MODIFIED:
            if self.cache:
                self.cache.confirm(address)
            return Page(kept.content, kept.next)
        return self._fresh(answer, address, pick)

    def _fresh(self, answer: requests.Response, address: str, pick: Pick) -> Page:
        try:
            page = Page(pick(answer.json()), _link(answer.links))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            kind = answer.headers.get("Content-Type", "no type").split(";")[0]
            raise HistoryUnavailable(
                f"the answer is not what GitHub's API gives ({kind})",
                where=address,
                advice="a proxy or a login page may stand in between; check the network, or give a clone with --repo",
            ) from error
        if self.cache and (etag := answer.headers.get("ETag")):
            self.cache.write(address, Kept(etag, page.content, page.next))
        return page

    def _answer(self, address: str, kept: Kept | None) -> requests.Response:
        """The first answer that is neither a passing fault nor a wait."""
        waited, tries = 0.0, 0
        while True:
            tries += 1
            answer = self._ask(address, kept, last=tries >= _TRIES)
            if answer is None or (answer.status_code >= _SERVER_ERROR and tries < _TRIES):
                self.pause(0.5 * 2**tries)
                continue
            wait = self._asked_to_wait(answer)
            if wait is None:
                return self._checked(answer, address)
            waited += wait
            if waited > self.patience:
                raise self._limited(wait)
            self.pause(wait)

    def _ask(self, address: str, kept: Kept | None, *, last: bool) -> requests.Response | None:
        """One request; None when there was no answer and it is worth another try."""
        headers = {
            "Accept": "application/vnd.github+json",
            "User-Agent": f"bisect-tool/{__version__}",
            "X-GitHub-Api-Version": "2022-11-28",
        } | ({"If-None-Match": kept.etag} if kept else {})
        try:
            answer = self._session.get(address, headers=headers, timeout=TIMEOUTS, auth=self._signed)
        except requests.RequestException as error:
            if not last and isinstance(error, requests.ConnectionError | requests.Timeout):
                return None
            raise _no_answer(error, address) from error
        self.was_moved = self.was_moved or bool(answer.history)
        return answer

    def _signed(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """The token and nothing else: without this, requests would send what it finds in the user's .netrc."""
        if self.token:
            request.headers["Authorization"] = f"Bearer {self.token}"
        return request

    def _asked_to_wait(self, answer: requests.Response) -> float | None:
        """Seconds until GitHub answers again; None when it is no rate limit."""
        if answer.status_code not in _LIMITED:
            return None
        after, reset = answer.headers.get("Retry-After", ""), answer.headers.get("X-RateLimit-Reset", "")
        if after.isdecimal():
            return float(after)
        if answer.headers.get("X-RateLimit-Remaining") == "0" and reset.isdecimal():
            return max(0.0, float(reset) - self.clock()) + 1.0
        return _UNSAID_WAIT if answer.status_code != 403 or "rate limit" in answer.text[:2000].lower() else None

    def _limited(self, wait: float) -> HistoryUnavailable:
        until = datetime.fromtimestamp(self.clock() + wait, tz=UTC).strftime("%H:%M UTC")
        more = (
            "start again then"
            if self.token
            else "start again then, or set GITHUB_TOKEN (5,000 requests an hour, not 60)"
        )
        return HistoryUnavailable(
            f"GitHub's rate limit is used up for {format_duration(wait)}, until {until}",
            where=self.api,
            advice=f"{more}; a clone with --repo has no limit",
        )

    def _checked(self, answer: requests.Response, address: str) -> requests.Response:
        status = answer.status_code
        if status in {_OK, _NOT_MODIFIED}:
            return answer
        if status in {404, 409, 422}:
            raise Refused(status, _message(answer))
        if status == 401:
            what, advice = "GitHub does not accept the token", "correct GITHUB_TOKEN or GH_TOKEN, or unset both"
        elif status == 403:
            what = f"GitHub refuses this: {_message(answer)}"
            advice = "give a token with the right to read this repository in GITHUB_TOKEN, or a clone with --repo"
        else:
            what, advice = f"GitHub answered with status {status}", "start again later, or give a clone with --repo"
        raise HistoryUnavailable(what, where=address, advice=advice)


def _server(url: str | None) -> tuple[str, str]:
    parts = urlsplit(url or "")
    return parts.scheme, parts.netloc


def _link(links: Mapping[str, Mapping[str, str]]) -> str | None:
    return links.get("next", {}).get("url")


def _message(answer: requests.Response) -> str:
    try:
        said = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        said = f"status {answer.status_code}"
    return re.sub(r"\s+", " ", said)[:200]


# Looked through in this order: a connection error may be one of the special ones before it.
_FAULTS: dict[type[Exception], str] = {
    requests.Timeout: "GitHub did not answer in time",
    requests.exceptions.SSLError: "the certificate of the server was not accepted",
    requests.exceptions.ProxyError: "the proxy on the way to GitHub cannot be reached",
    requests.ConnectionError: "GitHub cannot be reached",
    requests.TooManyRedirects: "the server sends from one address to the next without end",
}


def _no_answer(error: requests.RequestException, address: str) -> HistoryUnavailable:
    what = next(
        (text for kind, text in _FAULTS.items() if isinstance(error, kind)), f"no answer: {type(error).__name__}"
    )
    return HistoryUnavailable(
        what, where=address, advice="check the network and the proxy, or give a clone with --repo"
    )
