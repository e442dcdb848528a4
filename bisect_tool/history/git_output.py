"""What git prints, read back. Everything is separated by NUL, which neither messages nor paths can hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from bisect_tool.history.commit import ChangedFile, Commit, Touch

# Hash, parents, name and address of the author, time of the committer in seconds, the whole message.
FORMAT = "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%ct%x00%B"
_FIELDS = 6
_TOUCHES = {"A": Touch.ADDED, "D": Touch.DELETED}
_SUBMODULE = "160000"
_NO_REPLY = re.compile(r"(?:\d+\+)?(?P<login>[A-Za-z0-9-]+(?:\[bot\])?)@users\.noreply\.github\.com")


def read_commits(printed: bytes) -> list[Commit]:
    """The commits of `git log -z` with `FORMAT`, in its order."""
    fields = printed.decode("utf-8", "replace").split("\x00")[:-1]
    return [_commit(fields[at : at + _FIELDS]) for at in range(0, len(fields), _FIELDS)]


def _commit(fields: Sequence[str]) -> Commit:
    sha, parents, author, address, seconds, message = fields
    title, body = split_message(message)
    found = _NO_REPLY.fullmatch(address)
    login = found["login"] if found else None
    return Commit(sha, title, body, author, _moment(int(seconds)), tuple(parents.split()), login)


def split_message(message: str) -> tuple[str, str]:
    """The first line and the rest."""
    lines = message.strip("\n").split("\n")
    return lines[0].strip(), "\n".join(lines[1:]).strip("\n")


def _moment(seconds: int) -> datetime:
    """A time that no calendar has (a damaged commit) is the beginning of time."""
    try:
        return datetime.fromtimestamp(seconds, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, tz=UTC)


def read_touched(printed: bytes, wanted: Sequence[str]) -> dict[str, tuple[ChangedFile, ...]]:
    """The files of each of the commits `wanted`, from `git diff-tree --stdin --raw -z`."""
    found: dict[str, list[ChangedFile]] = {sha: [] for sha in wanted}
    sha = ""
    for token, path in _tokens(printed):
        if path is None:
            sha = token.strip()
            found.setdefault(sha, [])
        else:
            found[sha].append(_changed(token, path))
    return {sha: tuple(files) for sha, files in found.items()}


def _tokens(printed: bytes) -> Iterator[tuple[str, str | None]]:
    """(hash, None) for a commit, (description, path) for a file of it."""
    parts = iter(printed.split(b"\x00"))
    for part in parts:
        if part.startswith(b":"):
            yield part.decode("ascii"), next(parts).decode("utf-8", "surrogateescape")
        elif part.strip():
            yield part.decode("ascii"), None


def _changed(description: str, path: str) -> ChangedFile:
    """`:100644 100644 <hash> <hash> M`, of which the modes and the letter tell."""
    before, after, _, _, letter = description.removeprefix(":").split(" ")
    return ChangedFile(path, _TOUCHES.get(letter[0], Touch.MODIFIED), is_submodule=_SUBMODULE in {before, after})
