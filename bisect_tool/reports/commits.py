"""The commits between two builds as a part of a report.

Titles, authors and file names were written by others: they are here as `bisect_tool.history.showing` writes them, on one line,
with every character visible: a newline in a file name is an escape there.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bisect_tool.reports.part import Part


class BuildCommit(Part):
    """The commit that a build was made from.

    `sha` is the likely one, `earliest` and `latest` the ends of what is possible; `certain`: they are the same. `how` says
    where it is known from. `carried` is the revision that the build itself names.
    """

    sha: str
    certain: bool
    basis: str
    how: str
    earliest: str
    latest: str
    carried: str | None = None


class CommitRow(Part):
    """One commit. `date` is when it landed (UTC, ISO 8601). `login` is the author's name on GitHub.

    `files` are the first of the files that it touches, `files_count` how many there are; None: not known. `folded_with`:
    the commit with which it cancels out. `takes_back`: commits of the list that it reverts. `brings_again`: the one that it
    relands.
    `series`: commits with the same number are one ghstack series. `in_base`: the older build has it as a cherry-pick.
    """

    sha: str
    title: str
    author: str
    login: str | None = None
    date: str
    pull: int | None = None
    nature: Literal["change", "revert", "reland"] = "change"
    files: tuple[str, ...] | None = None
    files_count: int | None = None
    folded_with: str | None = None
    takes_back: tuple[str, ...] = ()
    brings_again: str | None = None
    series: int | None = None
    in_base: bool = False


class Commits(Part):
    """What the newer of two builds has and the older has not; `rows` are oldest first, None when there is no list.

    `repository` is `owner/name`, `address` its page. `link` shows the range on the web. `notes` are sentences: what is not
    certain, what could not be had and how to get it.
    """

    repository: str
    address: str
    link: str | None = None
    before: BuildCommit | None = None
    after: BuildCommit | None = None
    same_commit: bool = False
    rows: tuple[CommitRow, ...] | None = None
    notes: tuple[str, ...] = ()


class Suspect(Part):
    """A commit of the list that is worth looking at, with the reasons, strongest first. `doubts` speak against it."""

    sha: str
    points: float
    reasons: tuple[str, ...]
    doubts: tuple[str, ...] = ()


class RuledOut(Part):
    """A commit of the list that cannot be it, and why."""

    sha: str
    reason: str


class Suspicion(Part):
    """The ranking of the commits for one failure. A rank is a hint where to look, never a verdict."""

    suspects: tuple[Suspect, ...] = Field(
        default=(), description="Most points first; commits without points are left out."
    )
    ruled_out: tuple[RuledOut, ...] = ()
