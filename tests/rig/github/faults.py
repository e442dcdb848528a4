"""What the GitHub of the rig can be told to answer instead. Each fault goes away after `times` requests (None: it stays)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class GitHubFault:
    """An answer in the place of the right one; headers that end in `_in` are seconds from now, written as a time."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    reset_in: float | None = None
    times: int | None = None
    hangs_up: bool = False
    seen: int = 0

    def strikes(self) -> bool:
        """Count one request and say whether the fault acts on it."""
        self.seen += 1
        return self.times is None or self.seen <= self.times


def limited(reset_in: float, *, times: int | None = None, status: int = 403) -> GitHubFault:
    """The hourly limit is used up until `reset_in` seconds from now."""
    headers = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0"}
    return GitHubFault(status, _message("API rate limit exceeded for 127.0.0.1."), headers, reset_in, times)


def secondary_limit(retry_after: int, *, times: int | None = None) -> GitHubFault:
    """Too many requests at once: wait `retry_after` seconds."""
    text = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return GitHubFault(
        403, _message(text), {"Retry-After": str(retry_after), "X-RateLimit-Remaining": "40"}, times=times
    )


def forbidden() -> GitHubFault:
    """A token without the right to read."""
    return GitHubFault(403, _message("Resource not accessible by personal access token"))


def refused(status: int, *, times: int | None = None) -> GitHubFault:
    """A plain error status."""
    return GitHubFault(status, _message(f"{status} planted by the rig"), times=times)


def as_html(*, times: int | None = None) -> GitHubFault:
    """A login page of some network, with status 200."""
    page = b"<!DOCTYPE html>\n<html><body><form>Please sign in to this network.</form></body></html>\n"
    return GitHubFault(200, page, {"Content-Type": "text/html"}, times=times)


def not_json_enough(*, times: int | None = None) -> GitHubFault:
    """JSON, but of something else."""
    return GitHubFault(200, b'{"status": "ok"}', times=times)


def cut_short(*, times: int | None = None) -> GitHubFault:
    """The connection is closed without an answer."""
    return GitHubFault(0, hangs_up=True, times=times)


def _message(text: str) -> bytes:
    return b'{"message": "%s", "documentation_url": "https://docs.github.com/rest"}' % text.encode()
