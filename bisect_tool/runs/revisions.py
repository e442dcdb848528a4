"""Which commits of the main line the nightlies of a question stand for, so that equal ones are not tested twice.

A nightly names the commit of the nightly branch that it was built from; that branch says which commit of main it holds.
`bisect_tool.history.nightlies` has the facts.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from bisect_tool.builds import versions
from bisect_tool.builds.bounds import Selection
from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause
from bisect_tool.builds.channel import Channel
from bisect_tool.errors import HistoryUnavailable
from bisect_tool.history.nightlies import NightlyMap
from bisect_tool.history.projects import DatedBuilds, Project
from bisect_tool.history.source import HistoryAccess, open_source

EARLIER = timedelta(days=10)  # the nightly of a wheel was cut at most so long before the date of the wheel


@dataclass(frozen=True, slots=True)
class Revised:
    """The builds without those of one commit, and the nightly branch; `missing` says why it could not be read.

    `twins` are the builds that were left out, by the identity of the one that stands for them, oldest first.
    """

    selection: Selection
    nightlies: NightlyMap | None = None
    missing: str | None = None
    twins: Mapping[str, tuple[Build, ...]] = field(default_factory=dict)


def revise(
    selection: Selection, channel: Channel, project: Project | None, access: HistoryAccess, tell: Callable[[str], None]
) -> Revised:
    """Leave out nightlies of the same commit of main as the one before; what is left out names that one.

    The nightly branch tells which dates may have the same commit. That a wheel really has it, its own inside tells: a build
    that finished after midnight has the date of the next day.

    Raises `IndexUnreachable`.
    """
    dated = [build for build in selection.builds if build.date and versions.is_dated_pre_release(build.version)]
    if project is None or project.dated is not DatedBuilds.NIGHTLY_BRANCH or not dated:
        return Revised(selection)
    days = sorted(build.date.date() for build in dated if build.date)
    tell(f"reading the nightly branch of {project.repository}")
    try:
        nightlies = open_source(project, access).nightlies(days[0] - EARLIER, days[-1])
    except HistoryUnavailable as error:
        return Revised(selection, missing=error.what)
    reader = _Reader(channel, nightlies, tell)
    kept, twins = reader.without_repeats(selection.builds)
    if len(kept) < 2:
        kept, twins = list(selection.builds), {}
    same = [same_commit(one, before) for before in kept for one in twins.get(before.identity, ())]
    last = [f"{one.version} is the end asked for, and {one.because.value}: {one.detail}" for one in same[-1:]]
    notes = last if kept[-1].version != selection.builds[-1].version else []
    revised = replace(
        selection,
        builds=tuple(kept),
        left_out=(*selection.left_out, *same),
        notes=(*selection.notes, *notes),
    )
    return Revised(revised, nightlies, twins={identity: tuple(builds) for identity, builds in twins.items()})


def same_commit(build: Build, other: Build) -> LeftOut:
    """Why `build` is no build of its own: `other` stands for it."""
    detail = f"{other.version}, {(other.main_revision or '')[:12]}"
    return LeftOut(build.version, build.date, LeftOutBecause.SAME_COMMIT, detail)


@dataclass(frozen=True, slots=True)
class _Reader:
    channel: Channel
    nightlies: NightlyMap
    tell: Callable[[str], None]

    def without_repeats(self, builds: Sequence[Build]) -> tuple[list[Build], dict[str, list[Build]]]:
        """The builds, each commit once for each variant and Python, and the others by the identity of the one before."""
        kept: list[Build] = []
        twins: dict[str, list[Build]] = defaultdict(list)
        for group in _groups(builds, self._commit_by_date):
            read = [self._with_commit(build) for build in group] if len(group) > 1 else group
            for build in read:
                if kept and _is_repeat(kept[-1], build):
                    twins[kept[-1].identity].append(build)
                else:
                    kept.append(build)
        return kept, twins

    def _commit_by_date(self, build: Build) -> str | None:
        nightly = self.nightlies.newest_until(build.date.date()) if build.date else None
        return nightly.main if nightly else None

    def _with_commit(self, build: Build) -> Build:
        self.tell(f"reading the commit of {build.version}")
        read = self.channel.identified(build)
        return replace(read, main_revision=self.nightlies.main_of(read.revision) if read.revision else None)


def _groups(builds: Sequence[Build], commit: Callable[[Build], str | None]) -> Iterator[list[Build]]:
    """Neighbours that may be built from one commit."""
    for key, group in itertools.groupby(builds, key=lambda build: (commit(build), build.variant, build.python)):
        members = list(group)
        yield from ([members] if key[0] is not None else ([one] for one in members))


def _is_repeat(before: Build, build: Build) -> bool:
    same_line = (before.variant, before.python) == (build.variant, build.python)
    return same_line and build.main_revision is not None and before.main_revision == build.main_revision
