"""Where a bound lies in the order of a listing, and what it lets through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property
from typing import assert_never

from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.builds.bound_text import Bound, DateBound, VersionBound
from bisect_tool.builds.build import Build, LeftOut, Listing

Place = tuple[datetime, Version]
_BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
_NO_VERSION = Version("0")  # a commit has a place in time only


def place_of(entry: Build | LeftOut, *, dated: bool) -> Place:
    """What the order of a listing sorts by: the date (only in a dated stream), then the version."""
    return (entry.date or _BEGINNING) if dated else _BEGINNING, versions.parsed(entry.version) or _NO_VERSION


class Side(Enum):
    """Which end of the range a limit is; its name in a spec."""

    FROM = "from"
    TO = "to"


@dataclass(frozen=True)
class Limit:
    """A bound at one side of a range of `listing`."""

    side: Side
    bound: Bound
    listing: Listing

    def __str__(self) -> str:
        return f"{self.side.value} {self.bound.text}"

    def admits(self, entry: Build | LeftOut) -> bool:
        """Whether the entry lies on the inner side; the bound itself does. Without a date it passes no date."""
        match self.bound:
            case DateBound(_, start, end):
                return entry.date is not None and (entry.date >= start if self.side is Side.FROM else entry.date < end)
            case VersionBound():
                if self._threshold is None:
                    return False
                place = place_of(entry, dated=self.listing.dated)
                return place >= self._threshold if self.side is Side.FROM else place <= self._threshold
            case _:
                assert_never(self.bound)

    def means(self, entry: Build | LeftOut) -> bool:
        """Whether the bound names this very entry, or a time span that holds it."""
        match self.bound:
            case DateBound(_, start, end):
                return entry.date is not None and start <= entry.date < end
            case VersionBound():
                version = Version(entry.version)
                return self.bound.means(version) or (self.listing.dated and _is_nightly_of(self.bound.version, version))
            case _:
                assert_never(self.bound)

    def is_after(self, other: Limit) -> bool:
        """Whether this limit lies after the `other`, as far as that can be told without moving them inwards."""
        match self.bound, other.bound:
            case DateBound(), DateBound():
                return self.bound.start >= other.bound.end
            case VersionBound(), VersionBound():
                mine, others = self._place, other._place
                return mine > others if mine and others else self.bound.version > other.bound.version
            case VersionBound(), DateBound():
                return self._date is not None and self._date >= other.bound.end
            case DateBound(), VersionBound():
                return other._date is not None and self.bound.start > other._date
            case _:
                return False

    @cached_property
    def _meant(self) -> Sequence[Build | LeftOut]:
        """The entries that a version bound names: exactly if there is one, builds rather than left-out versions.

        In a dated stream without that release they are its nightlies.
        """
        assert isinstance(self.bound, VersionBound)
        for entries in (self.listing.builds, self.listing.left_out):
            meant = [entry for entry in entries if self.means(entry)]
            of_version = [entry for entry in meant if self.bound.means(Version(entry.version))]
            exact = [entry for entry in of_version if Version(entry.version) == self.bound.version]
            if meant:
                return exact or of_version or meant
        return ()

    @cached_property
    def _named(self) -> Build | LeftOut | None:
        """The outermost entry that a version bound names."""
        return self._meant[0 if self.side is Side.FROM else -1] if self._meant else None

    @cached_property
    def _date(self) -> datetime | None:
        """The date of a version bound, where its build or the version itself has one."""
        assert isinstance(self.bound, VersionBound)
        return self._named.date if self._named else versions.date_in(self.bound.version)

    @cached_property
    def _place(self) -> Place | None:
        """Where a version bound lies, None when a dated stream does not tell."""
        assert isinstance(self.bound, VersionBound)
        if self._named:
            return place_of(self._named, dated=self.listing.dated)
        if not self.listing.dated:
            return _BEGINNING, self.bound.version
        return (self._date, self.bound.version) if self._date else None

    @cached_property
    def _threshold(self) -> Place | None:
        """The place of a version bound, else that of the outermost build inside; None when no build is inside."""
        assert isinstance(self.bound, VersionBound)
        if self._place:
            return self._place
        version, builds = self.bound.version, self.listing.builds
        if self.side is Side.FROM:
            inner = next((build for build in builds if Version(build.version) >= version), None)
        else:
            inner = next((build for build in reversed(builds) if Version(build.version) <= version), None)
        return place_of(inner, dated=self.listing.dated) if inner else None


def _is_nightly_of(asked: Version, version: Version) -> bool:
    """Whether a nightly was made on the way to the release that was asked for: 2.12.0.dev20260301 for `2.12`."""
    return str(asked) == asked.base_version and version.is_devrelease and Version(version.base_version) == asked
