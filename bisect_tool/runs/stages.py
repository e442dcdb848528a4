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
from bisect_tool.runs.commit_stages import commit_stage, stage_inside
from bisect_tool.runs.session import Session
from bisect_tool.runs.surveying import COMMITS, Means, Stage, Window

MARGIN = timedelta(days=7)  # a branch is cut from a commit that is some days old, and the date of the cut is not exact
LONGEST_BRANCH = timedelta(days=90)  # taken where the date of the cut is not known


def next_stage(session: Session, means: Means) -> Stage | None:
    """What to search next, None when the spec names no finer channel or nothing was found to look closer at.

    After the commits of the line of development come those that a merge brought.

    Raises `BoundError` without dates; for commits `HistoryUnavailable`, `RevisionUnknown`, `SettingError`.
    """
    asked = session.asked
    channels = asked.spec.channel
    if asked.stage.channel == COMMITS:
        return stage_inside(session, means.history, means.access.tell)
    finer = channels[channels.index(asked.stage.channel) + 1 :]
    if not finer:
        return None
    if finer[0] == COMMITS:
        return commit_stage(session, means.history, means.access.tell)
    windows = merged([window(asked.builds[before], asked.builds[after]) for before, after in session.boundaries()])
    if not windows:
        return None
    return Stage(finer[0], f"{windows[0].start:%Y-%m-%d}", f"{windows[-1].end:%Y-%m-%d}", windows)


def goes_to_commits(session: Session) -> bool:
    """Whether what comes after this stage are commits, which are worth having but not needed for an answer."""
    channels = session.asked.spec.channel
    return session.asked.stage.channel == COMMITS or channels[channels.index(session.asked.stage.channel) + 1 :][
        :1
    ] == (COMMITS,)


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
