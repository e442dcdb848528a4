"""Which commit a wheel's Python files are those of: git names a file's content by its hash, so trees are enough.

For packages of Python files that the build copies as they are. Version modules and what else a build is known to write do not
count, nor do files that the repository does not have.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bisect_tool.errors import HistoryUnavailable
from bisect_tool.history.clone import ClonedSource
from bisect_tool.history.git_program import GitFailed
from bisect_tool.history.revisions import Basis, Revision

_MOST_COMMITS = 200
_WRITTEN = re.compile(r"(^|/)_?version(_info)?\.py$")


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a wheel's Python files compare with the tree of a commit: `same` and `different` count files that both have."""

    sha: str
    same: int
    different: int

    @property
    def is_whole(self) -> bool:
        """Whether no file differs."""
        return self.different == 0 and self.same > 0


def compare_contents(source: ClonedSource, wheel: Path, shas: Sequence[str]) -> tuple[Likeness, ...]:
    """How the wheel compares with each of the commits; empty when it has no file in common with any.

    Raises `HistoryUnavailable` when the clone lacks the trees or the wheel cannot be read.
    """
    inside = _hashes_in(wheel)
    trees = {sha: _tree(source, sha) for sha in shas}
    if not inside or not trees:
        return ()
    prefix = _prefix(inside, next(iter(trees.values())))
    rows = {sha: {name: tree.get(prefix + name) for name in inside} for sha, tree in trees.items()}
    written = {name for name in inside if _WRITTEN.search(name) or name in source.project.written_by_build}
    copied = {name for name in inside if name not in written and any(row[name] for row in rows.values())}
    if not copied:
        return ()
    return tuple(_likeness(sha, {name: row[name] for name in copied}, inside) for sha, row in rows.items())


def narrow_by_content(source: ClonedSource, revision: Revision, wheel: Path) -> Revision:
    """`revision` narrowed to the commits that have the wheel's Python files. What the wheel or a tag says is left as it is.

    When no commit of the range has them all, the build comes from another branch or rewrites files: the range stays, and
    `how` says so.

    Raises `HistoryUnavailable`.
    """
    if revision.basis in {Basis.CARRIED, Basis.TAG}:
        return revision
    span = source.commits(revision.earliest, revision.latest)
    candidates = [revision.earliest, *(commit.sha for commit in span.commits)]
    likenesses = compare_contents(source, wheel, candidates[-_MOST_COMMITS:])
    found = [likeness for likeness in likenesses if likeness.is_whole]
    if not found:
        return replace(revision, how=f"{revision.how}; but {_nearest(likenesses)}")
    sha = revision.sha if any(likeness.sha == revision.sha for likeness in found) else found[-1].sha
    how = f"the wheel has the Python files of {sha[:12]}"
    return Revision(sha, Basis.CONTENT, how, found[0].sha, found[-1].sha, revision.carried)


def _nearest(likenesses: Sequence[Likeness]) -> str:
    if not likenesses:
        return "the wheel has no Python file of the repository"
    best = max(likenesses, key=lambda likeness: likeness.same)
    return (
        f"no commit of that time has all Python files of the wheel; {best.sha[:12]} has {best.same} of "
        f"{best.same + best.different}"
    )


def _likeness(sha: str, row: Mapping[str, str | None], inside: Mapping[str, str]) -> Likeness:
    same = sum(content == inside[name] for name, content in row.items())
    return Likeness(sha, same, len(row) - same)


def _hashes_in(wheel: Path) -> dict[str, str]:
    """The hash that git gives to each Python file of the wheel, by its path inside."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return {name: _blob(archive.read(name)) for name in archive.namelist() if name.endswith(".py")}
    except (OSError, zipfile.BadZipFile) as error:
        raise HistoryUnavailable(
            f"the wheel cannot be read: {error}", where=str(wheel), advice="fetch it again"
        ) from error


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _tree(source: ClonedSource, sha: str) -> dict[str, str]:
    """The hash of each Python file of a commit, by its path."""
    try:
        printed = source.git.call("ls-tree", "-r", "-z", "--full-tree", sha).decode("utf-8", "surrogateescape")
    except GitFailed as error:
        raise HistoryUnavailable(
            f"git could not read the files of {sha[:12]}: {error.said[-200:]}",
            where=source.place,
            advice="run `git fsck` there",
        ) from error
    rows = (row.split("\t", 1) for row in printed.split("\0") if row.endswith(".py"))
    return {path: about.split(" ")[2] for about, path in rows}


def _prefix(inside: Mapping[str, str], tree: Mapping[str, str]) -> str:
    """The folder of the repository that the paths of the wheel begin in: none, `src/` or `python/`."""
    found: dict[str, int] = {"": 0}
    for path in tree:
        top, _, below = path.partition("/")
        found[""] += path in inside
        if below in inside:
            found[f"{top}/"] = found.get(f"{top}/", 0) + 1
    return max(found, key=lambda prefix: found[prefix])
