"""An issue on GitHub, and the addresses that name one."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_ADDRESS = re.compile(
    rf"https?://(?:www\.)?(?P<host>[A-Za-z0-9.-]+)/(?P<repository>{_NAME}/{_NAME})/issues/(?P<number>[0-9]{{1,9}})(?:[/?#]\S*)?"
)
_KEY = re.compile(rf"(?P<repository>{_NAME}/{_NAME})#(?P<number>[0-9]{{1,9}})")
REPOSITORY = re.compile(rf"{_NAME}/{_NAME}")
HOST = "github.com"


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue of `repository` (`owner/name`, in lower case: GitHub does not tell them apart)."""

    repository: str
    number: int

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


def issue_at(address: str | None, host: str = HOST) -> Issue | None:
    """The issue at an address of a web page, None for any other address; a pull request is none."""
    match = _ADDRESS.fullmatch(address or "")
    if match is None or match["host"].lower() != host.lower():
        return None
    return Issue(match["repository"].lower(), int(match["number"]))


def issue_named(key: str) -> Issue:
    """The issue that `str(issue)` was made of. Raises `ValueError`."""
    match = _KEY.fullmatch(key)
    if match is None:
        raise ValueError(f"not the name of an issue: {key[:200]!r}")
    return Issue(match["repository"].lower(), int(match["number"]))
