"""The line of development of a clone, as the channel `commit` walks it; the seam is `bisect_tool.builds.commits.line`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bisect_tool.builds.bound_text import DateBound, read_bound
from bisect_tool.builds.build import FileChange
from bisect_tool.builds.commits.line import LineCommit, Stretch, Touched
from bisect_tool.errors import BoundError, HistoryUnavailable, RevisionUnknown
from bisect_tool.history.clone import ClonedSource
from bisect_tool.history.commit import ChangedFile, Commit
from bisect_tool.history.git_program import CloneLacks, Git, GitFailed
from bisect_tool.history.parts import Part, part_of
from bisect_tool.history.revisions import tags_of

_NOTHING = "0" * 40
_FILES = ("100644", "100755", "000000")
_MOMENT = timedelta(seconds=1)
_CONTENTS = (
    "a clone that has file contents is needed here: run `git fetch --refetch --no-filter` in it, or name another"
)


@dataclass(frozen=True, slots=True)
class ClonedLine:
    """The first-parent line of the development branch of a clone. It never fetches."""

    source: ClonedSource

    @property
    def place(self) -> str:
        """The folder of the clone."""
        return self.source.place

    def stretch(self, from_: str | None, to: str | None) -> Stretch:
        """The commits between two bounds, as `CommitLine` says."""
        head = self._head(to)
        excluded, first = self._before(from_)
        commits = self.source.first_parents(head, first or excluded)
        notes: tuple[str, ...] = ()
        if first is not None:
            start, notes = self._start(first, head, commits, from_ or "")
            commits = [start, *commits]
        if not commits:
            raise BoundError(
                f"no commit lies between {from_ or 'the beginning'} and {to or 'the tip'}",
                where=self.place,
                advice="`from` is the older one, also when a fix is looked for",
            )
        return Stretch(tuple(_as_line(commit) for commit in commits), notes)

    def touched(self, shas: Sequence[str], folders: tuple[str, ...]) -> Mapping[str, Touched]:
        """What each commit touches."""
        known = self.source.files(shas).known
        return {sha: _touched(files, folders) for sha, files in known.items()}

    def changes(self, built: str, wanted: str, folders: tuple[str, ...]) -> tuple[FileChange, ...]:
        """The files that differ. Raises `HistoryUnavailable` when the clone lacks their content."""
        found = [raw for raw in self._differing(built, wanted, folders) if not _is_binary(raw.path)]
        if odd := next((raw for raw in found if not {raw.was_mode, raw.mode} <= set(_FILES)), None):
            raise HistoryUnavailable(
                f"{odd.path!r} is a link or a submodule in one of the commits and cannot be laid over",
                where=self.place,
                advice="build this commit from source",
            )
        contents = self._contents([raw.blob for raw in found if raw.blob != _NOTHING])
        return tuple(
            FileChange(raw.path, contents.get(raw.blob), None if raw.was == _NOTHING else raw.was) for raw in found
        )

    def check_out(self, sha: str, folder: Path) -> None:
        """Write the source of a commit, as a repository of its own that borrows the objects of the clone."""
        git = Git(folder, self.source.git.environ)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            git.call("init", "--quiet")
            own = folder / ".git"
            (own / "objects" / "info" / "alternates").write_text(f"{self._own_file('objects')}\n")
            (own / "packed-refs").write_bytes(self._tags())
            if (shallow := self._own_file("shallow")).exists():
                (own / "shallow").write_bytes(shallow.read_bytes())
            git.call("checkout", "--quiet", "--detach", sha)
            # git ends with status 0 even when it could not write the files whose content it does not have.
            is_whole = not git.call("ls-files", "--deleted")
        except CloneLacks as error:
            raise HistoryUnavailable(error.what, where=self.place, advice=_CONTENTS) from error
        except GitFailed as error:
            raise HistoryUnavailable(
                f"commit {sha[:12]} could not be checked out: {error.said[-200:]}",
                where=self.place,
                advice="look at the clone with `git fsck`, or name another",
            ) from error
        if not is_whole:
            raise self._without_contents()

    def _head(self, to: str | None) -> str:
        date = _date(to)
        if to is None:
            return self.source.tip()
        if date is None:
            return self._resolve(to)
        newest = self.source.newest_before(date.end - _MOMENT)
        if newest is None:
            raise BoundError(f"to {to}: no commit is that old", where=self.place, advice="give a later `to`")
        return newest.sha

    def _before(self, from_: str | None) -> tuple[str | None, str | None]:
        """What comes before the range, or its first commit: one of the two, or neither."""
        date = _date(from_)
        if from_ is None:
            return None, None
        if date is None:
            return None, self._resolve(from_)
        last = self.source.newest_before(date.start - _MOMENT)
        return (last.sha if last else None), None

    def _start(self, first: str, head: str, commits: Sequence[Commit], asked: str) -> tuple[Commit, tuple[str, ...]]:
        """The first commit of the range: where the line has no such commit, the last one of the line that lacks it."""
        parent = commits[0].parents[0] if commits and commits[0].parents else first
        if not commits and first != head:
            raise BoundError(
                f"from ({asked}) holds everything that `to` ({head[:12]}) has",
                where=self.place,
                advice="exchange them: `from` is the older one, also when a fix is looked for",
            )
        if parent == first:
            return self.source.commit(first), ()
        named = first[:12] if first.startswith(asked) else f"{asked} ({first[:12]})"
        note = f"{named} is not on the first-parent line: the commit where the two part, {parent[:12]}, is taken"
        return self.source.commit(parent), (note,)

    def _resolve(self, bound: str) -> str:
        try:
            return self.source.resolve(bound)
        except RevisionUnknown:
            for tag in tags_of(bound, self.source.project.tags):
                try:
                    return self.source.resolve(tag)
                except RevisionUnknown:
                    continue
            raise

    def _differing(self, built: str, wanted: str, folders: tuple[str, ...]) -> Iterator[_Raw]:
        try:
            printed = self.source.git.call(
                "diff-tree", "-r", "-z", "--raw", "--full-index", "--no-renames", built, wanted, "--", *folders
            )
        except GitFailed as error:
            raise HistoryUnavailable(
                f"git could not compare {built[:12]} and {wanted[:12]}: {error.said[-200:]}",
                where=self.place,
                advice="run `git fsck` there",
            ) from error
        parts = iter(printed.split(b"\0"))
        for part in parts:
            if part.startswith(b":"):
                was_mode, mode, was, blob, _ = part.decode("ascii").removeprefix(":").split(" ")
                yield _Raw(next(parts).decode("utf-8", "surrogateescape"), was_mode, mode, was, blob)

    def _contents(self, blobs: Sequence[str]) -> dict[str, bytes]:
        """The content of each blob. Raises `HistoryUnavailable` for one that the clone lacks."""
        wanted = list(dict.fromkeys(blobs))
        if not wanted:
            return {}
        try:
            printed = self.source.git.call("cat-file", "--batch", given="\n".join(wanted) + "\n")
        except (CloneLacks, GitFailed) as error:
            raise self._without_contents() from error
        found, at = {}, 0
        for blob in wanted:
            end = printed.index(b"\n", at)
            header = printed[at:end].split(b" ")
            if len(header) != 3:
                raise self._without_contents()
            size = int(header[2])
            found[blob] = printed[end + 1 : end + 1 + size]
            at = end + size + 2
        return found

    def _without_contents(self) -> HistoryUnavailable:
        return HistoryUnavailable("the clone lacks the content of files", where=self.place, advice=_CONTENTS)

    def _own_file(self, name: str) -> Path:
        """A file or folder of the clone's own."""
        told = self.source.git.call("rev-parse", "--git-path", name).decode().strip()
        return (self.source.git.folder.absolute() / told).resolve()

    def _tags(self) -> bytes:
        return self.source.git.call("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")


@dataclass(frozen=True, slots=True)
class _Raw:
    """A line of `git diff-tree --raw`."""

    path: str
    was_mode: str
    mode: str
    was: str
    blob: str


def _date(bound: str | None) -> DateBound | None:
    """The bound as a date. Digits alone may also begin a hash: eight are a date."""
    if bound is None or re.fullmatch(r"[0-9a-f]{9,40}", bound):
        return None
    try:
        read = read_bound(bound, frozenset())
    except BoundError:
        return None
    return read if isinstance(read, DateBound) else None


def _touched(files: Iterable[ChangedFile], folders: tuple[str, ...]) -> Touched:
    parts = [(file.path, part_of(file)) for file in files]
    installed = tuple(f"{folder}/" for folder in folders)
    return Touched(
        python=any(path.startswith(installed) and part is not Part.NATIVE for path, part in parts),
        binaries=any(part in {Part.NATIVE, Part.TRITON, Part.PIN} for _, part in parts),
    )


def _is_binary(path: str) -> bool:
    return part_of(ChangedFile(path)) is Part.NATIVE


def _as_line(commit: Commit) -> LineCommit:
    return LineCommit(commit.sha, commit.title, commit.date, commit.parents)
