"""When the branches of PyTorch's releases were cut from the main line."""

from __future__ import annotations

from datetime import UTC, datetime, time

from packaging.utils import canonicalize_name
from packaging.version import Version

from bisect_tool.builds.nightly.tables import read_tables


def branch_cut(package: str, version: str) -> datetime | None:
    """About when the branch of a release was cut (UTC); None for another package than torch, and for the newest releases.

    The version of the nightlies goes up a day or two after that (docs/nightlies.md): the last nightly before the next
    version tells it.
    """
    if canonicalize_name(package) != "torch":
        return None
    minor = Version(version).release[:2]
    last_ones = (row.last_before for row in read_tables().versions if row.version.release[:2] > minor)
    last = next(last_ones, None)
    return datetime.combine(last, time.min, UTC) if last else None
