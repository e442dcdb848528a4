"""What a bound (`from`, `to`) says: a date or a version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.errors import BoundError

_DATE = re.compile(r"\d{4}-?\d\d-?\d\d([T ]\d\d(:?\d\d(:?\d\d)?)?(Z|[+-]\d\d:?\d\d)?)?")
_MONTH = re.compile(r"\d{4}-\d\d")  # to PEP 440 the post-release 2026.post3
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_SPANS = {None: timedelta(days=1), 2: timedelta(hours=1), 4: timedelta(minutes=1), 6: timedelta(seconds=1)}
ACCEPTED = "Give a date (2026-03-01, 20260301, 2026-03-01T12) or a version (2.11, 2.13.0.dev20260520)."


@dataclass(frozen=True, slots=True)
class DateBound:
    """A day, or an hour, minute or second of it: from `start` until before `end`, UTC."""

    text: str
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class VersionBound:
    """A version by PEP 440."""

    text: str
    version: Version

    def means(self, version: Version) -> bool:
        """Whether it is this version: `2.11` means 2.11.0, and 2.11.0+cu130 as well since the bound has no label."""
        return version == self.version or (self.version.local is None and Version(version.public) == self.version)


Bound = DateBound | VersionBound


def read_bound(text: str, known: frozenset[Version]) -> Bound:
    """The bound that `text` means; a version that is `known` wins over a date or a commit that looks the same.

    Raises:
        BoundError: it is neither a date nor a version.
    """
    text = text.strip()
    version = versions.parsed(text)
    if version is not None and version in known:
        return VersionBound(text, version)
    date = _read_date(text)
    if date is not None:
        return date
    if _COMMIT.fullmatch(text):
        raise BoundError(f"{text!r} is not a date or a version; a commit cannot be a bound here", advice=ACCEPTED)
    if version is None or _MONTH.fullmatch(text):
        what = f"{text!r} is not a date or a version" if text else "a bound is empty"
        raise BoundError(what, advice=ACCEPTED)
    return VersionBound(text, version)


def _read_date(text: str) -> DateBound | None:
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    try:
        read = datetime.fromisoformat(text)
        start = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
        return DateBound(text, start, start + _span(match[1]))
    except (ValueError, OverflowError):
        return None


def _span(time: str | None) -> timedelta:
    if time is None:
        return _SPANS[None]
    digits = re.sub(r"(Z|[+-]\d\d:?\d\d)$", "", time)
    return _SPANS[sum(character.isdigit() for character in digits)]
