"""What a version string tells beyond its order: the date inside it and its variant."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

from packaging.version import InvalidVersion, Version

_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)?(\d\d)?(\d\d)?")
_YEARS = range(1990, 2100)


@lru_cache(maxsize=8192)  # an index has some thousands, and whoever puts them in order asks again and again
def parsed(version: str | Version) -> Version | None:
    """The version by PEP 440, None when it is not one."""
    if isinstance(version, Version):
        return version
    try:
        return Version(version)
    except InvalidVersion:
        return None


def date_in(version: str | Version) -> datetime | None:
    """The date inside a version (UTC, aware), None when it has none.

    It may be the number of a development, pre- or post-release (``dev20261027041530``: to the second, minute, hour or
    day), the whole release (``2026.10.15``) or one part of it (``2.33.0.20261030``). A number that looks like a date but
    is none, such as ``20261399``, is not taken for one.
    """
    read = parsed(version)
    if read is None:
        return None
    return _number_date(read) or calendar_date(read) or _part_date(read)


def calendar_date(version: str | Version) -> datetime | None:
    """The date of a version whose first three parts are year, month and day (UTC midnight), else None.

    `2024.2.1` may also be the second release of February: the upload time has to confirm it.
    """
    read = parsed(version)
    return _day(*read.release[:3]) if read is not None and len(read.release) >= 3 else None


def is_dated_pre_release(version: str | Version) -> bool:
    """Whether it is a development or pre-release whose number is a date, as nightlies have."""
    read = parsed(version)
    return read is not None and read.is_prerelease and _number_date(read) is not None


def variant_of(version: str | Version) -> str | None:
    """The local label of a version: `cu126` of ``2.13.0+cu126``."""
    read = parsed(version)
    return read.local if read is not None else None


def _number_date(version: Version) -> datetime | None:
    pre = version.pre[1] if version.pre else None
    for number in (version.dev, pre, version.post):
        if number is not None and (date := _stamp_date(str(number))):
            return date
    return None


def _part_date(version: Version) -> datetime | None:
    return next((date for part in version.release if (date := _stamp_date(str(part)))), None)


def _stamp_date(digits: str) -> datetime | None:
    match = _STAMP.fullmatch(digits)
    return _day(*(int(part) for part in match.groups() if part)) if match else None


def _day(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime | None:
    if year not in _YEARS:
        return None
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
