"""The builds between two bounds, from what searches had listed, and where there may be more that no listing holds. Pure."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise

from packaging.version import Version

from bisect_tool.builds.bound_text import DateBound, read_bound
from bisect_tool.builds.build import Build, Listing
from bisect_tool.builds.limits import Limit, Place, Side, place_of
from bisect_tool.builds.versions import parsed
from bisect_tool.errors import BoundError


@dataclass(frozen=True, slots=True)
class ListedBuild:
    """A build as a search has listed it: its date in seconds since 1970, and a name for the content of its file."""

    version: str
    date: int | None
    file: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """All builds between two of a listing, oldest first, as of `listed`; `from_` and `to` are the bounds that were asked."""

    builds: tuple[ListedBuild, ...]
    dated: bool
    listed: str
    from_: str | None
    to: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """The builds of a range, oldest first. `breaks`: behind the builds of these numbers there may be others, not listed.

    `reaches_from`, `reaches_to`: whether it is known that there are no further ones towards the bounds. `listed`: when the
    newest listing was made.
    """

    builds: tuple[ListedBuild, ...]
    breaks: frozenset[int]
    reaches_from: bool
    reaches_to: bool
    listed: str

    @property
    def is_whole(self) -> bool:
        """Whether these are all builds of the range."""
        return self.reaches_from and self.reaches_to and not self.breaks


@dataclass(frozen=True, slots=True)
class _Placed:
    """A build where it is in the order."""

    place: Place
    build: Build
    listed: ListedBuild


def line_of(stretches: Sequence[Stretch], from_: str | None, to: str | None) -> Line | None:
    """The builds between two bounds, as of the newest stretch that tells; None when a bound or a version cannot be read.

    `stretches` come newest first. What a newer one does not hold within its ends is gone.
    """
    stretches = [one for one in stretches if one.builds and one.dated == stretches[0].dated]
    different = list({one.builds: one for one in reversed(stretches)}.values())[::-1]  # most have listed the same
    placed = _placed(different)
    if not placed or any(parsed(one.build.version) is None for one in placed):
        return None
    listing = Listing(tuple(one.build for one in placed), (), "", dated=stretches[0].dated)
    known = frozenset(one.place[1] for one in placed)
    try:
        lower, upper = (
            None if text is None else Limit(side, read_bound(text, known), listing)
            for side, text in ((Side.FROM, from_), (Side.TO, to))
        )
    except BoundError:
        return None
    limits = [one for one in (lower, upper) if one is not None]
    numbers = [number for number, one in enumerate(placed) if all(limit.admits(one.build) for limit in limits)]
    if not numbers:
        return None
    first, last = numbers[0], numbers[-1]  # whatever lies between is in the range: the order is that of the bounds
    holders = [{one.version for one in stretch.builds} for stretch in different]
    ending = [one.listed for one in stretches if one.to == to and one.builds[-1].version == placed[last].listed.version]
    joined = [_is_joined(holders, one.listed, after.listed) for one, after in pairwise(placed)]
    return Line(
        tuple(one.listed for one in placed[first : last + 1]),
        frozenset(number - first for number in range(first, last) if not joined[number]),
        (first > 0 and joined[first - 1])
        or _names(lower, placed[first].build)
        or any(one.from_ == from_ and one.builds[0].version == placed[first].listed.version for one in stretches),
        (last < len(placed) - 1 and joined[last]) or _names(upper, placed[last].build) or bool(ending),
        ending[0] if ending and to is None else stretches[0].listed,
    )


def _placed(stretches: Sequence[Stretch]) -> list[_Placed]:
    found: list[_Placed] = []
    spans: list[tuple[Place, Place]] = []
    seen: set[str] = set()
    for stretch in stretches:
        own = [_in_place(one, dated=stretch.dated) for one in stretch.builds]
        found += [
            one
            for one in own
            if one.listed.version not in seen and not any(low <= one.place <= high for low, high in spans)
        ]
        spans.append((own[0].place, own[-1].place))
        seen |= {one.listed.version for one in own}
    return found if len(spans) == 1 else sorted(found, key=lambda one: one.place)


@lru_cache(maxsize=8192)  # many questions are about the same builds
def _in_place(listed: ListedBuild, *, dated: bool) -> _Placed:
    date = None if listed.date is None else datetime.fromtimestamp(listed.date, UTC)
    build = Build("", listed.version, "", "", date)
    return _Placed(place_of(build, dated=dated), build, listed)


def _is_joined(holders: Sequence[Container[str]], one: ListedBuild, after: ListedBuild) -> bool:
    """Whether a listing holds both, so that whatever is between them is known."""
    return any(one.version in versions and after.version in versions for versions in holders)


def _names(limit: Limit | None, build: Build) -> bool:
    """Whether the bound is this very build, or its day: `2.12` is also the name of all nightlies on the way there."""
    if limit is None:
        return False
    bound = limit.bound
    return limit.means(build) and (isinstance(bound, DateBound) or bound.means(Version(build.version)))
