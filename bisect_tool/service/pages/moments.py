"""Times as the pages show them. Pure: `at` and `now` are seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime

from bisect_tool.quantities import format_duration

_JUST_NOW = 10.0
_DAY = 86400.0


def ago(at: float, now: float) -> str:
    """`just now`, `3 min ago`, `2 days ago`, from two weeks on the date."""
    gone = now - at
    if gone < _JUST_NOW:
        return "just now"
    if gone < 60:
        return f"{gone:.0f} s ago"
    if gone < 3600:
        return f"{gone // 60:.0f} min ago"
    if gone < _DAY:
        return f"{gone // 3600:.0f} h ago"
    if gone < 14 * _DAY:
        days = int(gone // _DAY)
        return "1 day ago" if days == 1 else f"{days} days ago"
    return _utc(at).strftime("%Y-%m-%d")


def clock(at: float) -> str:
    """The time of the day."""
    return _utc(at).strftime("%H:%M:%S")


def utc(at: float) -> str:
    """Date and time."""
    return _utc(at).strftime("%Y-%m-%d %H:%M:%S UTC")


def iso(at: float) -> str:
    """For machines."""
    return _utc(at).isoformat(timespec="seconds")


def took(started: float | None, ended: float | None) -> str:
    """How long something took; empty when it has not ended."""
    return format_duration(max(0.0, ended - started)) if started is not None and ended is not None else ""


def _utc(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
