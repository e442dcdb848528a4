"""From the bounds of a spec to the builds between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from bisect_tool.builds.bound_text import DateBound, VersionBound, read_bound
from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing
from bisect_tool.builds.limits import Limit, Side, place_of
from bisect_tool.errors import BoundError, EmptyRange

_WIDEN = "Give an earlier `from` or a later `to`; at least two builds are needed to compare."
_NAMED_AT_MOST = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """The builds of a range, oldest first.

    `open_start` says that no `from` was given, so that the first build is the oldest there is and not a chosen one.
    `notes` are sentences about bounds that moved. `left_out` are the versions of the range that are not builds, in the
    order of the listing, which is that of the dates when `dated`. `is_bounded` as in `Listing`.
    """

    builds: tuple[Build, ...]
    open_start: bool
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    dated: bool = False
    is_bounded: bool = False


def select(listing: Listing, from_: str | None, to: str | None, *, least: int = 2) -> Selection:
    """The builds of `listing` between two bounds, both inclusive; None is the oldest, or the newest build.

    A bound is a date, with an optional time (UTC unless it says otherwise; a day counts whole), or a version. In a dated
    stream a version stands for its place in time. Releases are in the order of their versions, so that a backport of the
    asked dates may come before builds that are too old: those are left out, and a note says so.

    Raises:
        BoundError: a bound is neither date nor version, the listing has no dates, or `from` is after `to`.
        EmptyRange: fewer than `least` builds lie inside.
    """
    if listing.is_bounded:
        return Selection(listing.builds, from_ is None, (), listing.left_out, is_bounded=True)
    limits = _limits(listing, from_, to)
    builds = [build for build in listing.builds if all(limit.admits(build) for limit in limits)]
    if len(builds) < least:
        raise _empty(listing, builds, limits)
    passed = _passed(listing, builds)
    left_out = _left_out(listing, builds, limits)
    notes = [note for limit in limits if (note := _note(limit, builds))]
    if passed:
        notes.append(f"{_names(passed)}: among these versions, but not of the dates asked for")
    ordered = sorted((*left_out, *passed), key=lambda left: place_of(left, dated=listing.dated))
    return Selection(tuple(builds), from_ is None, tuple(notes), tuple(ordered), dated=listing.dated)


def named_only(selection: Selection, labels: frozenset[str], least: int = 2) -> Selection:
    """The builds of a selection that have these labels, all of them without any.

    Raises `EmptyRange` with fewer than `least`.
    """
    builds = tuple(build for build in selection.builds if build.label in labels)
    if not labels:
        return selection
    if len(builds) < least:
        gone = ", ".join(sorted(labels - {build.label for build in builds}))
        raise EmptyRange(f"builds of the earlier answer are not there any more: {gone}", advice=_WIDEN)
    return replace(selection, builds=builds, left_out=())


def between_left_out(selection: Selection, before: Build, after: Build) -> tuple[LeftOut, ...]:
    """The left-out versions whose place in the order is between two builds; commits have no such order."""
    if selection.is_bounded:
        return ()
    low, high = (place_of(build, dated=selection.dated) for build in (before, after))
    return tuple(left for left in selection.left_out if low < place_of(left, dated=selection.dated) < high)


def _limits(listing: Listing, from_: str | None, to: str | None) -> list[Limit]:
    entries: tuple[Build | LeftOut, ...] = (*listing.builds, *listing.left_out)
    known = frozenset(Version(entry.version) for entry in entries)
    asked = ((Side.FROM, from_), (Side.TO, to))
    limits = [Limit(side, read_bound(text, known), listing) for side, text in asked if text is not None]
    for limit in limits:
        if isinstance(limit.bound, DateBound) and not any(build.date for build in listing.builds):
            raise BoundError(
                f"{limit}: the builds have no dates here",
                where=listing.source,
                advice="Give a version instead of a date.",
            )
    if len(limits) == len(Side) and limits[0].is_after(limits[1]):
        raise BoundError(
            f"from ({limits[0].bound.text}) is after to ({limits[1].bound.text})",
            advice="Exchange them: `from` is the older one, also when a fix is looked for.",
        )
    return limits


def _left_out(listing: Listing, builds: Sequence[Build], limits: Iterable[Limit]) -> list[LeftOut]:
    """Those that the limits admit, and those between the builds whatever their date is."""
    low, high = (place_of(build, dated=listing.dated) for build in (builds[0], builds[-1]))
    return [
        left
        for left in listing.left_out
        if low < place_of(left, dated=listing.dated) < high or all(limit.admits(left) for limit in limits)
    ]


def _passed(listing: Listing, builds: Sequence[Build]) -> list[LeftOut]:
    """Builds that lie between the first and the last of `builds` but are not among them: their date is outside."""
    low, high = listing.builds.index(builds[0]), listing.builds.index(builds[-1])
    inside = set(builds)
    return [
        LeftOut(build.version, build.date, LeftOutBecause.DATE)
        for build in listing.builds[low:high]
        if build not in inside
    ]


def _note(limit: Limit, builds: Sequence[Build]) -> str | None:
    if any(limit.means(build) for build in builds):
        return None
    inner = f"the first one inside is {_dated(builds[0])}"
    if limit.side is Side.TO:
        inner = f"the last one inside is {_dated(builds[-1])}"
    return f"{limit}: {_why_missing(limit)}, {inner}"


def _why_missing(limit: Limit) -> str:
    left = next((left for left in limit.listing.left_out if limit.means(left)), None)
    if left is not None:
        which = "that version" if isinstance(limit.bound, VersionBound) else left.version
        return f"{which} is {left.because.value}{f' ({left.detail})' if left.detail else ''}"
    return "no such build" if isinstance(limit.bound, VersionBound) else "no build of that time"


def _empty(listing: Listing, builds: Sequence[Build], limits: Sequence[Limit]) -> EmptyRange:
    asked = " ".join(str(limit) for limit in limits) or "without bounds"
    lines = [
        f"only one build lies in the range ({asked}): {_dated(builds[0])}" if builds else _nothing(listing, limits)
    ]
    lines += [
        f"  {limit}: {_why_missing(limit)}"
        for limit in limits
        if any(limit.means(left) for left in listing.left_out) and not any(limit.means(build) for build in builds)
    ]
    return EmptyRange("\n".join(lines), where=listing.source, advice=_WIDEN)


def _nothing(listing: Listing, limits: Sequence[Limit]) -> str:
    asked = " ".join(str(limit) for limit in limits) or "without bounds"
    outside = {limit.side: [build for build in listing.builds if not limit.admits(build)] for limit in limits}
    older, newer = outside.get(Side.FROM, []), outside.get(Side.TO, [])
    nearest = [_dated(build) for build in (*older[-1:], *newer[:1])]
    around = f"; the nearest {'is' if len(nearest) == 1 else 'are'} {' and '.join(nearest)}" if nearest else ""
    return f"no build lies in the range ({asked}){around}"


def _dated(build: Build) -> str:
    return f"{build.version} of {build.date:%Y-%m-%d}" if build.date else build.version


def _names(left_out: Sequence[LeftOut]) -> str:
    more = len(left_out) - _NAMED_AT_MOST
    names = ", ".join(left.version for left in left_out[:_NAMED_AT_MOST])
    return f"{names} and {more} more" if more > 0 else names
