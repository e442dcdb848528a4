"""The belief of a study as a series, for a picture."""

from __future__ import annotations

from bisect_tool.search.flaky.belief import places_of
from bisect_tool.search.flaky.evidence import Evidence
from bisect_tool.search.flaky.study import Study


def chances(evidence: Evidence, one: Study) -> tuple[tuple[int, float], ...]:
    """For each build of the study but the oldest, oldest first: the chance that the rate changed with this build.

    With the chance of no change they sum to 1. Inside a stretch without trials the chance is spread as it was before any
    trial. Empty until the ends were told apart.
    """
    if one.belief is None:
        return ()
    places = places_of(evidence)
    return tuple(
        (build, share.chance * places.mass(build - 1, build) / places.mass(share.gap.before, share.gap.after))
        for share in one.belief.shares
        for build in range(share.gap.before + 1, share.gap.after + 1)
        if share.chance > 0
    )
