"""The builds that a report names (`look_at` of a spec): each is tested for sure, as the ends of the range are.

A failure that one release had is seen by no search by halves between two ends that pass. Whoever reports it names that release.
"""

from __future__ import annotations

from bisect_tool.builds.bound_text import read_bound
from bisect_tool.builds.bounds import Selection
from bisect_tool.builds.build import Listing
from bisect_tool.builds.limits import Limit, Side
from bisect_tool.builds.versions import parsed


def looked_at(
    texts: tuple[str, ...], listing: Listing, selection: Selection
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The numbers of the builds that `texts` name, in order, and those of the texts that name none of the range.

    Of a date with several builds it is the last one. Raises `BoundError` for a text that is neither a date nor a version.
    """
    known = (
        frozenset(version for build in listing.builds if (version := parsed(build.version))) if texts else frozenset()
    )
    limits = [Limit(Side.TO, read_bound(text, known), listing) for text in texts]
    found = [_number(limit, selection) for limit in limits]
    missing = tuple(limit.bound.text for limit, number in zip(limits, found, strict=True) if number is None)
    return tuple(sorted({number for number in found if number is not None})), missing


def _number(limit: Limit, selection: Selection) -> int | None:
    """The last build that the limit means; a commit has no version and is never meant."""
    builds = reversed(list(enumerate(selection.builds)))
    return next((number for number, build in builds if parsed(build.version) and limit.means(build)), None)
