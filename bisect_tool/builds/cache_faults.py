"""What to say when the cache does not take what a channel wants to keep."""

from __future__ import annotations

import errno
from pathlib import Path

from bisect_tool.errors import BisectError, CacheNotWritable, DiskFull


def cannot_keep(what: str, folder: Path | None, error: OSError) -> BisectError:
    """The error to raise: a full disk, or a folder that cannot be written."""
    where = str(folder) if folder else None
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DiskFull(f"no space is left to keep {what}", where=where, advice="Free some space, then start again.")
    return CacheNotWritable(
        f"{what} cannot be kept: {error.strerror or error}",
        where=where,
        advice="Make the cache writable, or give another one with --cache.",
    )
