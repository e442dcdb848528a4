"""From two neighbouring builds to the commits between them, and from a merge to the commits that it brought."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from packaging.utils import canonicalize_name

from bisect_tool.builds.build import Build, Span
from bisect_tool.builds.channels.commit import LAID_OVER
from bisect_tool.history.cloning import open_line
from bisect_tool.history.line import ClonedLine
from bisect_tool.history.revisions import revision_of
from bisect_tool.history.source import HistoryAccess
from bisect_tool.runs.session import Session
from bisect_tool.runs.surveying import COMMITS, Stage


def commit_stage(session: Session, access: HistoryAccess, tell: Callable[[str], None]) -> Stage | None:
    """The commits between the two builds of the first change; None when there is none, or both are of one commit.

    From nightlies the stretch is exact. A release that is not on the line of development is taken for the commit where its
    branch parted from it.

    Raises `RevisionUnknown`, `HistoryUnavailable`, `SettingError`.
    """
    boundaries = session.boundaries()
    if not boundaries:
        return None
    asked = session.asked
    line = open_line(asked.spec.package, asked.spec.source, access, tell)
    source = line.source
    older, newer = (_told(session, number) for number in boundaries[0])
    base = revision_of(older, source, asked.nightlies).earliest
    head = revision_of(newer, source, asked.nightlies).latest
    if base == head:
        return None
    folders = LAID_OVER.get(canonicalize_name(asked.spec.package))
    if folders is not None:
        line.changes(head, base, folders)  # a clone without file contents is noticed before anything is tested
    over = replace(newer, main_revision=head) if folders is not None else None
    span = Span(base, head, over, asked.stage.channel)
    return Stage(COMMITS, base, head, spans=(span,), shown=_shown(session))


def stage_inside(session: Session, access: HistoryAccess, tell: Callable[[str], None]) -> Stage | None:
    """The commits that a merge brought, when the first change is that merge; None when it is another commit.

    Raises `HistoryUnavailable`.
    """
    asked, boundaries = session.asked, session.boundaries()
    if not boundaries or boundaries[0][1] - boundaries[0][0] > 1:
        return None
    build = asked.builds[boundaries[0][1]]
    if not build.is_source:
        return None
    line: ClonedLine = open_line(asked.spec.package, asked.spec.source, access, tell)
    commit = line.source.commit(build.revision or build.version)
    if len(commit.parents) != 2:
        return None
    fork = line.source.merge_base(*commit.parents)
    if fork is None or fork == commit.parents[1]:
        return None
    span = Span(fork, commit.parents[1])
    return Stage(COMMITS, fork, commit.parents[1], spans=(span,), inside=commit.sha, shown=_shown(session))


def _told(session: Session, number: int) -> Build:
    """The build with the revision that its environment has told."""
    build = session.asked.builds[number]
    health = session.healths.get(build.identity, {})
    return replace(build, revision=str(health["revision"])) if health.get("revision") else build


def _shown(session: Session) -> frozenset[str]:
    """The failures that whole builds have shown."""
    return frozenset(session.failures)
