"""The builds between two bounds, from what searches had listed, and where there may be more that no listing holds. Pure."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, replace
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
    """Builds between two of a listing, oldest first, as of `listed`; `from_` and `to` are the bounds that were asked.

    `has_gaps`: others may lie among them, which are not of the dates that were asked for: backports of releases.
    """

    builds: tuple[ListedBuild, ...]
    dated: bool
    listed: str
    from_: str | None
    to: str | None
    has_gaps: bool = False

    def without_files(self, builds: Collection[int]) -> Stretch:
        """With files of which nobody knows which they are: no verdict about these builds counts, and none is replaced."""
        listed = (replace(one, file="") if number in builds else one for number, one in enumerate(self.builds))
        return replace(self, builds=tuple(listed))


@dataclass(frozen=True, slots=True)
class Line:
    """The builds of a range, oldest first. `breaks`: behind the builds of these numbers there may be others, not listed.

    `reaches_from`, `reaches_to`: whether it is known that there are no further ones towards the bounds. `listed`: when the
    newest listing was made. `doubtful`: the numbers of builds that a newer listing could have had and has not: they may be
    gone, or hidden from another driver, so that behind and before them nothing is counted.
    """

    builds: tuple[ListedBuild, ...]
    breaks: frozenset[int]
    reaches_from: bool
    reaches_to: bool
    listed: str
    doubtful: frozenset[int] = frozenset()

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

    `stretches` come newest first. What a newer one does not hold within its ends is gone; beyond its ends, within the bounds
    that it was asked for, it is doubtful.
    """
    stretches = [one for one in stretches if one.builds and one.dated == stretches[0].dated]
    first_of: dict[tuple[object, ...], Stretch] = {}
    for one in stretches:  # most have listed the same; the newest of those stands for them
        first_of.setdefault((one.builds, one.from_, one.to), one)
    different = list(first_of.values())
    placed = _placed(different)
    if not placed or any(parsed(one.build.version) is None for one in placed):
        return None
    order = _Order(tuple(placed), Listing(tuple(one.build for one in placed), (), "", dated=stretches[0].dated))
    limits = order.limits(from_, to)
    if limits is None:
        return None
    numbers = [number for number, one in enumerate(placed) if all(limit.admits(one.build) for limit in limits)]
    if not numbers:
        return None
    if any(_is_of_dates(one.bound.text, dated=stretches[0].dated) for one in limits):
        return _of_dates(order, numbers, stretches, different, (from_, to))
    numbers = list(range(numbers[0], numbers[-1] + 1))  # the order is that of the bounds: all between are in the range
    return _between(order, numbers, stretches, different, (from_, to))


Bounds = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class _Order:
    """All builds that are known, oldest first, with what reads bounds among them."""

    placed: tuple[_Placed, ...]
    listing: Listing

    def limits(self, from_: str | None, to: str | None) -> list[Limit] | None:
        """None when one of them cannot be read."""
        known = frozenset(one.place[1] for one in self.placed)
        try:
            return [
                Limit(side, read_bound(text, known), self.listing)
                for side, text in ((Side.FROM, from_), (Side.TO, to))
                if text is not None
            ]
        except BoundError:
            return None


def _between(
    order: _Order, numbers: Sequence[int], stretches: Sequence[Stretch], different: Sequence[Stretch], bounds: Bounds
) -> Line:
    placed, (from_, to) = order.placed, bounds
    first, last = numbers[0], numbers[-1]
    doubtful = _doubtful(order, different)
    joined = _joined(order, different, doubtful)
    limits = {one.side: one for one in order.limits(from_, to) or ()}
    ending = [one.listed for one in stretches if one.to == to and one.builds[-1].version == placed[last].listed.version]
    is_first = any(one.from_ == from_ and one.builds[0].version == placed[first].listed.version for one in stretches)
    return Line(
        tuple(one.listed for one in placed[first : last + 1]),
        frozenset(number - first for number in range(first, last) if not joined[number]),
        (first > 0 and joined[first - 1])
        or _names(limits.get(Side.FROM), placed[first].build)
        or (is_first and first not in doubtful),
        (last < len(placed) - 1 and joined[last])
        or _names(limits.get(Side.TO), placed[last].build)
        or (bool(ending) and last not in doubtful),
        ending[0] if ending and to is None else stretches[0].listed,
        frozenset(number - first for number in numbers if number in doubtful),
    )


def _joined(order: _Order, different: Sequence[Stretch], doubtful: Container[int]) -> list[bool]:
    """Of each build and the next one whether everything between is known."""
    holders = [{one.version for one in stretch.builds} for stretch in different if not stretch.has_gaps]
    return [
        _is_joined(holders, one.listed, after.listed) and number not in doubtful and number + 1 not in doubtful
        for number, (one, after) in enumerate(pairwise(order.placed))
    ]


def _of_dates(
    order: _Order, numbers: Sequence[int], stretches: Sequence[Stretch], different: Sequence[Stretch], bounds: Bounds
) -> Line:
    """Of releases, whose order is not that of dates: others may be anywhere but where all versions are known."""
    chosen = [order.placed[number].listed for number in numbers]
    doubtful = _doubtful(order, different)
    joined = _joined(order, different, doubtful)
    own = next((one for one in stretches if (one.from_, one.to) == bounds), None)
    is_whole = own is not None and {one.version for one in own.builds} == {one.version for one in chosen}
    first, last = chosen[0].version, chosen[-1].version
    full = [(one, {build.version for build in one.builds}) for one in different if not one.has_gaps]
    is_first = any(one.from_ is None and first in held for one, held in full)
    is_last = any(one.to is None and last in held and one.builds[-1].version != last for one, held in full)
    return Line(
        tuple(chosen),
        frozenset(
            place for place, (one, two) in enumerate(pairwise(numbers)) if not is_whole and not all(joined[one:two])
        ),
        is_whole or (is_first and numbers[0] not in doubtful),
        is_whole or (is_last and numbers[-1] not in doubtful),
        stretches[0].listed,
        frozenset(place for place, number in enumerate(numbers) if number in doubtful),
    )


def _doubtful(order: _Order, different: Sequence[Stretch]) -> set[int]:
    """The builds that a newer listing has not, though it was asked for builds like them."""
    found: set[int] = set()
    versions = [{one.version for one in stretch.builds} for stretch in different]
    limits = [order.limits(stretch.from_, stretch.to) for stretch in different]
    for number, one in enumerate(order.placed):
        for held, asked in zip(versions, limits, strict=True):
            if one.listed.version in held:
                break
            if asked is not None and all(limit.admits(one.build) for limit in asked):
                found.add(number)
                break
    return found


def _is_of_dates(bound: str | None, *, dated: bool) -> bool:
    """Whether a bound is one of time among builds whose order is not that of time."""
    try:
        return bound is not None and not dated and isinstance(read_bound(bound, frozenset()), DateBound)
    except BoundError:
        return False


def may_have_gaps(from_: str | None, to: str | None, *, dated: bool) -> bool:
    """Whether a range of these bounds may leave builds out that lie among its own: as records of before do not say."""
    return _is_of_dates(from_, dated=dated) or _is_of_dates(to, dated=dated)


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
        if not stretch.has_gaps:
            spans.append((own[0].place, own[-1].place))
        seen |= {one.listed.version for one in own}
    return found if len(stretches) == 1 else sorted(found, key=lambda one: one.place)


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
