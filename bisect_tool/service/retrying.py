"""Which errors may be gone another time, and how long is waited for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bisect_tool import errors

PAUSES = (10.0, 60.0, 300.0, 1200.0, 3600.0)  # seconds before the second attempt, the third …
MOST_ATTEMPTS = len(PAUSES) + 1  # in a row, without a new trial in between

# Faults of a machine or a network. A command or a requirement that nobody has (25, 27) is the same everywhere.
PASSING = frozenset(
    kind.status
    for kind in (
        errors.IndexUnreachable,
        errors.DeviceMissing,
        errors.UvMissing,
        errors.PythonMissing,
        errors.DiskFull,
        errors.CacheNotWritable,
        errors.CacheTooNew,
        errors.CacheBroken,
        errors.StoreUnreachable,
        errors.DownloadFailed,
        errors.MachineFault,
        errors.DownloadsUsedUp,
        errors.HistoryUnavailable,
    )
)


def is_passing(error: Mapping[str, Any]) -> bool:
    """Whether an error (`fault_values`) is one of the machine, so that another attempt may end otherwise."""
    return error["status"] in PASSING


def pause_after(attempts: int) -> float:
    """Seconds to wait after so many attempts in a row."""
    return PAUSES[min(attempts, len(PAUSES)) - 1]


def given_up(error: Mapping[str, Any], attempts: int) -> dict[str, Any]:
    """The error of a job that is not tried again, with what to do."""
    advice = f"it was tried {attempts} times; {error['advice']}; then have the question tried again (retry)"
    return {**error, "advice": advice}
