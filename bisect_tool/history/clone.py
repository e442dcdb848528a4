"""A history read from a clone on this machine: ordinary, bare, or without file contents (`--filter=blob:none`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path

from bisect_tool.errors import HistoryUnavailable, RevisionUnknown
from bisect_tool.history.commit import Commit, Span, TouchedFiles
from bisect_tool.history.git_output import FORMAT, read_commits, read_touched
from bisect_tool.history.git_program import CloneLacks, Git, GitFailed
from bisect_tool.history.nightlies import NightlyMap, committed_around, map_nightlies
from bisect_tool.history.projects import Project, project_of_address
from bisect_tool.history.source import is_plain

_HEX = re.compile(r"[0-9a-fA-F]{7,40}")
_FULL = re.compile(r"[0-9a-f]{40}")


def open_clone(folder: Path, project: Project, environ: Mapping[str, str]) -> ClonedSource:
    """The repository in `folder`, which may be a clone of a fork of `project`.

    Raises `HistoryUnavailable` when there is none.
    """
    source = ClonedSource(Git(folder, environ), project)
    source.check()
    return source


@dataclass(frozen=True)
class ClonedSource:
    """Reads a clone through the program git. It never fetches: what the clone lacks is said, with what to do about it."""

    git: Git
    project: Project
    _tips: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def place(self) -> str:
        """The folder."""
        return str(self.git.folder)

    def check(self) -> None:
        """Raises `HistoryUnavailable` when there is no repository."""
        try:
            self.git.call("rev-parse", "--git-dir")
        except GitFailed as error:
            raise self._unreadable(error) from error

    def resolve(self, revision: str) -> str:
        """The full hash of a commit, a tag, or a branch of the project's remote."""
        revision = revision.strip()
        if not is_plain(revision):
            raise self._unknown(revision, "this is no hash, tag or branch")
        for name in self._names(revision):
            if found := self._commit_named(name):
                return found
        raise self._unknown(revision, "the clone has no such commit, tag or branch")

    def commit(self, revision: str) -> Commit:
        """One commit."""
        return self._log("--no-walk", self.resolve(revision))[0]

    def commits(self, base: str, head: str) -> Span:
        """What `head` has and `base` has not."""
        first, last = self.resolve(base), self.resolve(head)
        commits = self._log("--topo-order", "--reverse", f"{first}..{last}")
        cut = self._cut_off.intersection(commit.sha for commit in commits)
        fork = self.merge_base(first, last)
        if self._cut_off and (cut or fork is None):
            raise self._shallow(base, head)
        return Span(first, last, fork, tuple(commits), only_base=self._count(f"{last}..{first}"))

    def line(self) -> tuple[Commit, ...]:
        """Every commit of the development branch, oldest first, parents before children."""
        return tuple(self._log("--topo-order", "--reverse", self._branch(self.project.branch)))

    def merge_base(self, one: str, other: str) -> str | None:
        """The newest commit that both have."""
        try:
            printed = self.git.call("merge-base", self.resolve(one), self.resolve(other))
        except GitFailed as error:
            if error.status == 1 and not error.said:
                return None
            raise self._unreadable(error) from error
        return printed.decode().strip()

    def newest_before(self, moment: datetime) -> Commit | None:
        """What the development branch held then, on its first-parent line."""
        until = moment.astimezone(UTC).strftime("--until=%Y-%m-%dT%H:%M:%S+00:00")
        found = self._log("--first-parent", "-1", until, self._branch(self.project.branch))
        if not found and self._cut_off:
            raise self._shallow(self.project.branch, moment.isoformat())
        return found[0] if found else None

    def nightlies(self, since: date, until: date) -> NightlyMap:
        """The nightlies of these days."""
        if self.project.nightly_branch is None:
            return NightlyMap(())
        start, _ = committed_around(since, until)
        commits = self._log(
            "--first-parent",
            "--reverse",
            f"--since={start.isoformat()}T00:00:00+00:00",
            self._branch(self.project.nightly_branch),
        )
        return map_nightlies(commits).between(since, until)

    def files(self, shas: Sequence[str]) -> TouchedFiles:
        """The files of each commit, read in one go."""
        wanted = [sha for sha in dict.fromkeys(shas) if sha not in self._cut_off]
        cut = tuple(sha for sha in dict.fromkeys(shas) if sha in self._cut_off)
        try:
            printed = self.git.call(
                "diff-tree", "--stdin", "-r", "-z", "--root", "--raw", "--no-renames", "--no-relative", "--always", "-m",
                "--diff-merges=first-parent", "--ignore-submodules=none", given="\n".join(wanted) + "\n",
            )  # fmt: skip
        except GitFailed as error:
            return TouchedFiles({}, tuple(shas), f"git could not read the files of these commits: {error.said[-200:]}")
        except CloneLacks as error:
            return TouchedFiles({}, tuple(shas), f"{error.what}; {error.advice}")
        why = "the clone is shallow and ends at these commits" if cut else None
        return TouchedFiles(read_touched(printed, wanted), cut, why)

    def compare_link(self, base: str, head: str) -> str:
        """The page on the server, whether or not the clone has the commits."""
        return self.project.compare_link(base, head)

    @cached_property
    def _cut_off(self) -> frozenset[str]:
        """The commits at which a shallow clone ends: git takes them for the first of all."""
        path = self.git.folder / self.git.call("rev-parse", "--git-path", "shallow").decode().strip()
        return frozenset(path.read_text().split()) if path.exists() else frozenset()

    @cached_property
    def _remotes(self) -> tuple[str, ...]:
        """The remotes, that of the project first: in the clone of a fork, `origin` may be years behind."""
        try:
            lines = (
                self.git.call("config", "--get-regexp", r"^remote\..*\.url$").decode("utf-8", "replace").splitlines()
            )
        except GitFailed:
            return ()
        remotes = [(line.split(".", 1)[1].rsplit(".url ", 1)) for line in lines]
        ranked = sorted(remotes, key=lambda remote: (not self._is_own(remote[1]), remote[0] != "origin"))
        return tuple(name for name, _ in ranked)

    def _is_own(self, address: str) -> bool:
        named = project_of_address(address)
        return named is not None and named.repository.lower() == self.project.repository.lower()

    def _names(self, revision: str) -> tuple[str, ...]:
        """The full names that a revision may be short for, most likely first."""
        kind, _, name = revision.partition("/")
        if kind == "tags":
            return (f"refs/tags/{name}",)
        if kind == "heads":
            return self._branch_refs(name)
        named = (f"refs/tags/{revision}", *self._branch_refs(revision))
        if _FULL.fullmatch(revision):
            return (revision, *named)
        return (*named, revision) if _HEX.fullmatch(revision) else named

    def _branch_refs(self, name: str) -> tuple[str, ...]:
        return (*(f"refs/remotes/{remote}/{name}" for remote in self._remotes), f"refs/heads/{name}")

    def _branch(self, name: str) -> str:
        """The commit at the tip of a branch of the project."""
        for ref in self._branch_refs(name):
            if found := self._commit_named(ref):
                return found
        raise HistoryUnavailable(
            f"the clone has no branch {name}",
            where=self.place,
            advice=f"run `git fetch origin {name}:refs/remotes/origin/{name}`",
        )

    def _commit_named(self, name: str) -> str | None:
        """The commit of a full name or a hash; what once was found is remembered."""
        if name not in self._tips:
            try:
                printed = self.git.call("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
            except GitFailed as error:
                if "ambiguous" in error.said:
                    raise self._unknown(name, "several objects begin with these digits") from error
                return None
            except CloneLacks:
                return None
            self._tips[name] = printed.decode().strip()
        return self._tips[name]

    def _log(self, *words: str) -> list[Commit]:
        """Without the mail map: it is a file, and a clone without file contents would have to fetch it."""
        try:
            return read_commits(
                self.git.call("log", "-z", "--no-mailmap", "--no-color", "--encoding=UTF-8", FORMAT, *words, "--")
            )
        except GitFailed as error:
            raise self._unreadable(error) from error

    def _count(self, stretch: str) -> int:
        try:
            return int(self.git.call("rev-list", "--count", stretch, "--"))
        except GitFailed as error:
            raise self._unreadable(error) from error

    def _unknown(self, revision: str, what: str) -> RevisionUnknown:
        return RevisionUnknown(
            f"{what}: {revision!r}",
            where=self.place,
            advice="look at the spelling, or run `git fetch --all --tags` in the clone",
        )

    def _unreadable(self, error: GitFailed) -> HistoryUnavailable:
        return HistoryUnavailable(
            f"git could not read the clone: {error.said[-300:]}", where=self.place, advice="run `git fsck` there"
        )

    def _shallow(self, base: str, head: str) -> HistoryUnavailable:
        return HistoryUnavailable(
            f"the clone is shallow and ends before the whole of {base}..{head}",
            where=self.place,
            advice="run `git fetch --unshallow` there (with --filter=blob:none it stays small)",
        )
