"""What a history is made of: commits, the files they touch, and the stretch between two of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Touch(StrEnum):
    """What happened to a file. A rename is a deletion and an addition."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit touches; `is_submodule` when it is the commit at which another repository is pinned.

    `path` is as git has it: it may hold any character but NUL (`bisect_tool.history.showing` makes it fit to be shown).
    Bytes that are not UTF-8 are lone surrogates, as Python's file system functions have them.
    """

    path: str
    touch: Touch = Touch.MODIFIED
    is_submodule: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. `date` is when it was committed, that is, when it landed (UTC, aware); `login` the author on GitHub."""

    sha: str
    title: str
    body: str = field(repr=False)
    author: str
    date: datetime
    parents: tuple[str, ...] = ()
    login: str | None = None

    @property
    def is_merge(self) -> bool:
        """Whether it joins two lines."""
        return len(self.parents) > 1


@dataclass(frozen=True, slots=True)
class Span:
    """What `head` has and `base` has not: `commits`, oldest first, parents before children.

    `merge_base` is None when the two have no common past. `only_base` counts what `base` has and `head` has not: not zero
    when the two are not on one line, as two releases are not. `left_out` counts newer commits that the source did not give.
    """

    base: str
    head: str
    merge_base: str | None
    commits: tuple[Commit, ...]
    only_base: int = 0
    left_out: int = 0

    @property
    def is_one_line(self) -> bool:
        """Whether `head` came after `base` and holds all of it."""
        return self.merge_base == self.base

    def spine(self) -> tuple[Commit, ...]:
        """The commits on the first-parent line of `head`, oldest first: what landed, one after the other."""
        inside = {commit.sha: commit for commit in self.commits}
        line: list[Commit] = []
        step = inside.get(self.head)
        while step is not None:
            line.append(step)
            step = inside.get(step.parents[0]) if step.parents else None
        return tuple(reversed(line))

    def brought_by(self, merge: Commit) -> tuple[Commit, ...]:
        """The commits that a merge brought onto the first-parent line, oldest first, without the merge itself."""
        before = self._reachable(merge.parents[:1])
        brought = self._reachable(merge.parents[1:]) - before
        return tuple(commit for commit in self.commits if commit.sha in brought)

    def _reachable(self, start: Iterable[str]) -> set[str]:
        inside = {commit.sha: commit for commit in self.commits}
        waiting, seen = [sha for sha in start if sha in inside], set[str]()
        while waiting:
            sha = waiting.pop()
            if sha not in seen:
                seen.add(sha)
                waiting += [parent for parent in inside[sha].parents if parent in inside]
        return seen


@dataclass(frozen=True, slots=True)
class TouchedFiles:
    """The files of each commit, as far as they could be had; `missing` could not, and `why` says the reason."""

    known: Mapping[str, tuple[ChangedFile, ...]]
    missing: tuple[str, ...] = ()
    why: str | None = None
