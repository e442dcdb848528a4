"""The belief of a study as a series, for a picture."""

from __future__ import annotations

from bisect_tool.search.flaky.study import Study


def chances(one: Study) -> tuple[tuple[int, float], ...]:
    """For each build of the study but the oldest, oldest first: the chance that the rate changed with this build.

    With the chance of no change they sum to 1. Inside a stretch without trials the chance is spread evenly. Empty until the
    ends were told apart.
    """
    if one.belief is None:
        return ()
    return tuple(
        (build, share.chance / (share.gap.after - share.gap.before))
        for share in one.belief.shares
        for build in range(share.gap.before + 1, share.gap.after + 1)
        if share.chance > 0
    )
