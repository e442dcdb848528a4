"""When the branches of releases were cut from the main line."""

from __future__ import annotations

from datetime import UTC, datetime

from packaging.version import Version

# The first nightly seen with the next version; the branch of a version was cut a day or two before that.
_NEXT = {"2.12": datetime(2026, 4, 17, tzinfo=UTC), "2.13": datetime(2026, 6, 12, tzinfo=UTC)}


def branch_cut(package: str, version: str) -> datetime | None:
    """About when the branch of a release was cut; None where that is not known."""
    release = Version(version).release
    return _NEXT.get(".".join(map(str, release[:2]))) if package == "torch" else None
