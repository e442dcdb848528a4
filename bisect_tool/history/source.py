"""The seam for places where a history can be read: a clone on this machine, or GitHub's API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Protocol

from bisect_tool.history.commit import Commit, Span, TouchedFiles
from bisect_tool.history.nightlies import NightlyMap
from bisect_tool.history.projects import Project

_PLAIN = re.compile(r"(?![-/.])(?!.*\.\.)(?!.*/\.)[^\s~^:?*\[\\\x00-\x1f\x7f@{}]+")


class Source(Protocol):
    """Reads the history of one project. Every method but `compare_link` may raise `HistoryUnavailable`."""

    @property
    def project(self) -> Project:
        """Whose history it is."""

    @property
    def place(self) -> str:
        """Where it is read, for people."""

    def resolve(self, revision: str) -> str:
        """The full hash of the commit that a hash (also abbreviated to seven digits), a tag or a branch means.

        `tags/NAME` and `heads/NAME` mean only that: a tag such as `20260301` may also look like a hash.

        Raises `RevisionUnknown`.
        """

    def commit(self, revision: str) -> Commit:
        """One commit.

        Raises `RevisionUnknown`.
        """

    def commits(self, base: str, head: str) -> Span:
        """What `head` has and `base` has not.

        Raises `RevisionUnknown`.
        """

    def merge_base(self, one: str, other: str) -> str | None:
        """The newest commit that both have, None when they have no common past.

        Raises `RevisionUnknown`.
        """

    def newest_before(self, moment: datetime) -> Commit | None:
        """What the development branch held at `moment` (aware); None when it had not begun."""

    def nightlies(self, since: date, until: date) -> NightlyMap:
        """The nightlies of these days, both included; empty for a project without a nightly branch."""

    def files(self, shas: Sequence[str]) -> TouchedFiles:
        """The files that each of the commits touches; a merge against its first parent.

        What cannot be had is in `TouchedFiles.missing`: the list is worth showing without it.
        """

    def compare_link(self, base: str, head: str) -> str:
        """The page that shows the range; never fails, asks nobody."""


@dataclass(frozen=True, slots=True)
class HistoryAccess:
    """How a history may be reached.

    `clone` is a folder with a git repository; without one, GitHub's API is asked, with `token` if there is one. `cache` is a
    folder for its answers. `api` is another address of the API. `offline`: only what the cache has. Answers count for
    `fresh_for` seconds without asking again. `repositories` is a folder for clones of the tool's own, which only a search among
    commits needs.
    """

    clone: Path | None = None
    token: str | None = field(default=None, repr=False)
    cache: Path | None = None
    api: str | None = None
    offline: bool = False
    repositories: Path | None = None
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    fresh_for: float = 0.0


def open_source(project: Project, access: HistoryAccess) -> Source:
    """The clone that `access` names, else GitHub's API. Opening asks nobody: a folder that is no clone shows later.

    Raises `HistoryUnavailable` when `access.clone` is not a git repository.
    """
    if access.clone is not None:
        from bisect_tool.history.clone import open_clone

        return open_clone(access.clone, project, access.environ)
    from bisect_tool.history.github import open_github

    return open_github(project, access)


def is_plain(revision: str) -> bool:
    """Whether it is one hash, tag or branch: no range, no expression of git's, nothing that looks like an option."""
    return _PLAIN.fullmatch(revision) is not None


def token_in(environ: Mapping[str, str]) -> str | None:
    """The token for GitHub's API that the environment holds: `GITHUB_TOKEN`, else `GH_TOKEN`."""
    return environ.get("GITHUB_TOKEN", "").strip() or environ.get("GH_TOKEN", "").strip() or None
