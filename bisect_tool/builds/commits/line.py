"""The seam for the history that commits come from; `bisect_tool.history.line` reads a clone behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from bisect_tool.builds.build import FileChange


@dataclass(frozen=True, slots=True)
class LineCommit:
    """One commit of the line of development; `date` is when it landed (UTC, aware)."""

    sha: str
    title: str
    date: datetime
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring commits of one line, oldest first: each is the first parent of the next. `notes` are sentences."""

    commits: tuple[LineCommit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Touched:
    """Whether a commit touches Python files that are installed, and whether it touches what binaries are made of."""

    python: bool
    binaries: bool


class CommitLine(Protocol):
    """Reads one repository. Every method but `place` may raise `HistoryUnavailable`."""

    @property
    def place(self) -> str:
        """Where it is read, for people."""

    def stretch(self, from_: str | None, to: str | None) -> Stretch:
        """The commits between two bounds, both inclusive: dates, hashes, tags, versions that have a tag.

        None is the beginning, or the tip of the branch where development happens. Only first parents are followed.

        Raises `RevisionUnknown`, and `BoundError` when nothing lies between them.
        """

    def touched(self, shas: Sequence[str], folders: tuple[str, ...]) -> Mapping[str, Touched]:
        """What each commit touches; `folders` are those whose Python files are installed. Unknown ones are left out."""

    def changes(self, built: str, wanted: str, folders: tuple[str, ...]) -> tuple[FileChange, ...]:
        """The files of `folders` that differ between the commit that was built and the one that is wanted."""

    def check_out(self, sha: str, folder: Path) -> None:
        """Write the source of a commit into `folder`, as a repository with the tags of the project."""
