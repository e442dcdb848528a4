"""Where a listing changes to another variant or Python version: two neighbours of one date with the same code.

A state that differs between them says nothing about the code, so that it is no regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from packaging.version import Version

from bisect_tool.builds.build import Build


def is_seam(older: Build, newer: Build) -> bool:
    """Whether two neighbours are one version of one date, for different variants or Python versions."""
    # Most neighbours are of one variant, and versions take a while to read.
    if (older.variant, older.python) == (newer.variant, newer.python):
        return False
    if older.base or newer.base or older.is_source or newer.is_source:
        return False
    same_day = older.date is not None and newer.date is not None and older.date.date() == newer.date.date()
    same_version = Version(older.version).public == Version(newer.version).public
    return same_day and same_version


def is_leap(older: Build, newer: Build) -> bool:
    """Whether two neighbours differ in variant or Python version and in the code too, because no date has both."""
    return (older.variant, older.python) != (newer.variant, newer.python) and not is_seam(older, newer)


def seams_of(builds: Sequence[Build]) -> tuple[int, ...]:
    """The numbers of the older builds of all seams."""
    return tuple(number for number, (older, newer) in enumerate(pairwise(builds)) if is_seam(older, newer))


def described_side(build: Build) -> str:
    """`variant cu126`, with the Python version where it is not the one that was wanted."""
    python = f" on Python {build.python}" if build.python else ""
    return f"variant {build.variant or 'without a name'}{python}"
