"""The dates that the bounds of a range mean for nightlies."""

from __future__ import annotations

from datetime import date, timedelta

from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.builds.bound_text import DateBound, VersionBound, read_bound
from bisect_tool.builds.nightly.naming import torch_span
from bisect_tool.builds.nightly.tables import Span, Tables
from bisect_tool.errors import BoundError


def variant_in(*bounds: str | None) -> str | None:
    """The variant that the bounds name (`2.13.0.dev20260520+cu130`), None when they name none or two."""
    read = (versions.parsed(text) for text in bounds if text)
    named = {version.local for version in read if version is not None and version.dev is not None and version.local}
    return named.pop() if len(named) == 1 else None


def first_date(tables: Tables, text: str | None) -> date | None:
    """The first date to look at for a `from`, None when there is none: a version begins with its first nightly.

    Raises `BoundError`.
    """
    span = _span(tables, text)
    return None if span is None else max(span.first, tables.begin)


def last_date(tables: Tables, text: str | None, today: date) -> date:
    """The last date to look at for a `to`, at the latest today: a version ends with its last nightly.

    Raises `BoundError`.
    """
    span = _span(tables, text)
    if span is None:
        return today
    if span.last < tables.begin:
        advice = "Give a later `to`, or bisect the releases of that time with the channel `release`."
        raise BoundError(f"to {text}: nightlies are known from {tables.begin} on", advice=advice)
    return min(span.last, today)


def _span(tables: Tables, text: str | None) -> Span | None:
    if text is None:
        return None
    bound = read_bound(text, frozenset())
    if isinstance(bound, DateBound):
        return Span(bound.start.date(), (bound.end - timedelta(microseconds=1)).date())
    return _span_of_version(tables, bound)


def _span_of_version(tables: Tables, bound: VersionBound) -> Span:
    """A little too wide rather than too narrow: the builds themselves say later where a version begins and ends."""
    inside = versions.date_in(bound.version)
    if inside is not None:
        return Span(inside.date(), inside.date())
    minor = Version(f"{bound.version.major}.{bound.version.minor}.0")
    known = torch_span(tables, minor)
    if known is not None:
        return Span(*known)
    newest = tables.versions[-1]
    if minor > newest.version:
        return Span(newest.first, date.max)
    return Span(date.min, tables.begin - timedelta(days=1))
