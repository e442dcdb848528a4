"""The channel `commit`: every commit of the line of development is a build. `docs/commits.md` says what that can tell.

Two ways to get one. A package is built from the source of the commit, by uv. For torch, whose binaries take hours to build,
the Python files of the commit are laid over the binaries of a build that came after it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from bisect_tool.builds.build import Build, Installation, Layer, LeftOut, LeftOutBecause, Listing, Span, Wanted
from bisect_tool.builds.channel import Access
from bisect_tool.builds.channel import open_channel as open_other
from bisect_tool.builds.channels.release import ReleaseChannel
from bisect_tool.builds.commits.line import CommitLine, LineCommit
from bisect_tool.builds.index_address import find_index
from bisect_tool.errors import BoundError, EmptyRange, IndexUnreachable, PackageNotFound, SettingError

DIGITS = 12  # of a hash that stand for a version
# Packages whose binaries are not built here, with the folders of their repository that are installed as they are.
LAID_OVER = {"torch": ("torch", "torchgen", "functorch")}
_SHOWS_TIMES = "filelock"  # any package: whether the index gives upload times


def open_channel(access: Access) -> CommitChannel:
    """The history that `access` opens.

    Raises:
        SettingError: it opens none.
        HistoryUnavailable: there is no repository.
    """
    if access.line is None:
        raise SettingError(
            "the channel `commit` needs the repository of the package",
            advice="name it with `source:` in the spec, or a clone of it with --repo DIR",
        )
    return CommitChannel(access.line(), access)


@dataclass(frozen=True, slots=True)
class CommitChannel:
    """Lists the commits of `line`."""

    line: CommitLine
    access: Access

    def source_address(self) -> str:
        """The clone."""
        return self.line.place

    def listing(self, wanted: Wanted) -> Listing:
        """The commits of the range, oldest first.

        Raises:
            BoundError, RevisionUnknown: a bound means no commit; for torch, a range that no coarser channel has found.
            EmptyRange: fewer than two commits.
            HistoryUnavailable: the history cannot be read.
        """
        folders = LAID_OVER.get(canonicalize_name(wanted.package))
        if wanted.spans:
            found = [self._of_span(wanted.package, span) for span in wanted.spans]
        elif folders is None:
            found = [self._of_bounds(wanted)]
        else:
            raise BoundError(
                f"commits of {wanted.package} are laid over the binaries of a build that comes after them",
                advice="search coarser builds first: `channel: [nightly, commit]` or `[release, nightly, commit]`",
            )
        if sum(len(listing.builds) for listing in found) < 2:
            raise EmptyRange(
                "fewer than two commits lie in the range",
                where=self.line.place,
                advice="give bounds that lie further apart",
            )
        return Listing(
            builds=tuple(build for listing in found for build in listing.builds),
            left_out=tuple(left for listing in found for left in listing.left_out),
            source=self.line.place,
            dated=True,
            has_upload_times=self._index_has_times(wanted),
            notes=tuple(note for listing in found for note in listing.notes),
            is_bounded=True,
        )

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:
        """How a commit is built from its source, or laid over the binaries of its base."""
        revision = build.revision or ""
        if build.base is None:
            index = find_index(self.access.index, os.environ, Path.home())
            options = () if index.is_default else ("--default-index", index.url)
            return Installation((), options, check_out=lambda folder: self.line.check_out(revision, folder))
        base, folders = build.base, LAID_OVER[canonicalize_name(build.package)]
        return Installation(
            (),
            layer=Layer(
                folders,
                under=lambda: open_other(build.location, self.access).installation(base, requires),
                changes=lambda: self.line.changes(base.main_revision or "", revision, folders),
            ),
        )

    def identified(self, build: Build) -> Build:
        """The build as it is: it is its commit."""
        return build

    def current(self, build: Build) -> Build:
        """The build as it is: a commit cannot be replaced."""
        return build

    def _of_bounds(self, wanted: Wanted) -> Listing:
        stretch = self.line.stretch(wanted.from_, wanted.to)
        builds = tuple(self._from_source(wanted.package, commit) for commit in stretch.commits)
        return Listing(builds, (), self.line.place, notes=stretch.notes)

    def _of_span(self, package: str, span: Span) -> Listing:
        stretch = self.line.stretch(span.base, span.head)
        if span.over is None:
            builds = tuple(self._from_source(package, commit) for commit in stretch.commits)
            return Listing(builds, (), self.line.place, notes=stretch.notes)
        kept, left_out = self._telling(stretch.commits, LAID_OVER[canonicalize_name(package)])
        built = tuple(self._laid(package, commit, span) for commit in kept)
        notes = [f"Python files of the commits are laid over the binaries of {span.over.label}"]
        if left_out:
            notes.append(
                f"{len(left_out)} of {len(stretch.commits)} commits change no Python file of the package and make no "
                "difference on the same binaries"
            )
        return Listing(built, left_out, self.line.place, notes=(*stretch.notes, *notes))

    def _telling(
        self, commits: Sequence[LineCommit], folders: tuple[str, ...]
    ) -> tuple[list[LineCommit], tuple[LeftOut, ...]]:
        """The first commit and those that touch Python files; the others are the same build on the same binaries."""
        touched = self.line.touched([commit.sha for commit in commits], folders)
        kept = [c for c in commits if c is commits[0] or c.sha not in touched or touched[c.sha].python]
        others = (commit for commit in commits if commit not in kept)
        return kept, tuple(_left_out(others))

    def _from_source(self, package: str, commit: LineCommit) -> Build:
        return _build(package, commit, self.line.place, is_source=True)

    def _laid(self, package: str, commit: LineCommit, span: Span) -> Build:
        """`location` is the channel that the base comes from."""
        return _build(package, commit, span.over_channel, over=span.over)

    def _index_has_times(self, wanted: Wanted) -> bool:
        """Whether what a commit requires can be had as of its date."""
        try:
            others = ReleaseChannel(find_index(self.access.index, os.environ, Path.home()), self.access.pages)
            return others.listing(Wanted(_SHOWS_TIMES, wanted.target)).has_upload_times
        except (IndexUnreachable, PackageNotFound):
            return False


def _build(
    package: str, commit: LineCommit, location: str, *, is_source: bool = False, over: Build | None = None
) -> Build:
    return Build(
        package=package,
        version=commit.sha[:DIGITS],
        filename=commit.sha,
        location=location,
        date=commit.date,
        variant=over.variant if over else None,
        revision=commit.sha,
        python=over.python if over else None,
        base=over,
        is_source=is_source,
    )


def _left_out(commits: Iterable[LineCommit]) -> Iterable[LeftOut]:
    return (LeftOut(c.sha[:DIGITS], c.date, LeftOutBecause.NO_PYTHON, c.title) for c in commits)
