"""Where the time of a run went, in one sentence. Pure."""

from __future__ import annotations

from bisect_tool.quantities import format_duration, format_size
from bisect_tool.reports.report import TimePart

LEAST = 0.05  # seconds; less is not worth a word


def where_time_went(time: TimePart) -> str:
    """The time of a run, beside what was estimated before."""
    slots = f" in {time.slots} slots" if time.slots > 1 else ""
    beside = f"; {format_duration(time.overlapped_s)} of work went on beside that" if time.overlapped_s >= LEAST else ""
    return f"{format_duration(time.total_s)}{slots}: {_shares(time)}{beside}{_fetched(time)}{_estimated(time)}"


def _shares(time: TimePart) -> str:
    told = (
        ("trials", time.run_s),
        ("import", time.import_s),
        ("unpacking", time.unpack_s),
        ("waiting for downloads", time.download_s),
        ("waiting for other runs", time.wait_s),
        ("bisect itself", time.own_s),
    )
    return ", ".join(f"{what} {format_duration(seconds)}" for what, seconds in told if seconds >= LEAST)


def _fetched(time: TimePart) -> str:
    ahead = (
        f", {time.made_ahead} environments made ahead of need, {time.used_ahead} of them used"
        if time.made_ahead
        else ""
    )
    return (f"; fetched {format_size(time.bytes_fetched)}" if time.bytes_fetched else "") + ahead


def _estimated(time: TimePart) -> str:
    guess = [format_duration(time.estimated_s)] if time.estimated_s is not None else []
    guess += [f"{format_size(time.estimated_bytes)} for the builds alone"] if time.estimated_bytes else []
    return f" (estimated before: {', '.join(guess)})" if guess else ""
