"""From coarse to fine: the change that one channel has shown, looked for among the builds of the next.

A release is not on the line that the nightlies are built from: it grew on a branch that was cut weeks before, and took
single commits from the main line until its day. So what changed between two releases changed on the main line after the
branch of the older one was cut, and before the newer one came out.
"""

from __future__ import annotations

from datetime import timedelta

from bisect_tool.builds.branches import branch_cut
from bisect_tool.builds.build import Build
from bisect_tool.errors import BoundError
from bisect_tool.runs.session import Session
from bisect_tool.runs.surveying import Stage, Window

MARGIN = timedelta(days=7)  # a branch is cut from a commit that is some days old, and the date of the cut is not exact
LONGEST_BRANCH = timedelta(days=90)  # taken where the date of the cut is not known


def next_stage(session: Session) -> Stage | None:
    """What to search next, None when the spec names no finer channel or nothing was found to look closer at."""
    asked = session.asked
    channels = asked.spec.channel
    finer = channels[channels.index(asked.stage.channel) + 1 :]
    if not finer:
        return None
    windows = merged([window(asked.builds[before], asked.builds[after]) for before, after in session.boundaries()])
    if not windows:
        return None
    return Stage(finer[0], f"{windows[0].start:%Y-%m-%d}", f"{windows[-1].end:%Y-%m-%d}", windows)


def window(before: Build, after: Build) -> Window:
    """When the main line changed, if `before` and `after` are releases that differ.

    From a while before the branch of `before` was cut until `after` came out. Raises `BoundError` without dates.
    """
    cut = branch_cut(before.package, before.version)
    start = cut - MARGIN if cut else before.date - LONGEST_BRANCH if before.date else None
    if start is None or after.date is None:
        raise BoundError(
            f"the nightlies between {before.version} and {after.version} cannot be told: the releases have no dates here",
            advice="use an index that gives upload times, or `channel: nightly` with dates as `from` and `to`",
        )
    return Window(start, after.date)


def merged(windows: list[Window]) -> tuple[Window, ...]:
    """Windows that overlap become one."""
    merged: list[Window] = []
    for one in sorted(windows, key=lambda one: one.start):
        if merged and one.start <= merged[-1].end:
            merged[-1] = Window(merged[-1].start, max(merged[-1].end, one.end))
        else:
            merged.append(one)
    return tuple(merged)
