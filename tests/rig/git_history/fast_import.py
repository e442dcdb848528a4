"""One running `git fast-import`: thousands of commits a second, and each hash is known at once."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

# Nothing that the person who runs the tests has set up may change what is written.
ENVIRONMENT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "PATH": "/usr/bin:/bin"}


@dataclass(frozen=True, slots=True)
class Signed:
    """Who and when (aware)."""

    name: str
    email: str
    when: datetime

    def line(self) -> bytes:
        """As fast-import wants it."""
        name = self.name.replace("<", "").replace(">", "").replace("\n", " ")
        return f"{name} <{self.email}> {int(self.when.timestamp())} +0000".encode("utf-8", "surrogateescape")


class FastImport:
    """Writes commits into the bare or ordinary repository `folder`; `close` must be called."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            ["git", "-C", str(folder), "fast-import", "--quiet", "--done", "--date-format=raw", "--force"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=ENVIRONMENT,
        )
        self._marks: dict[str, int] = {}  # by hash: fast-import finds what it has not stored yet by its mark only
        self._count = 0

    def commit(
        self,
        ref: str,
        message: str,
        signed: Signed,
        *,
        committed: Signed | None = None,
        parents: Sequence[str] = (),
        changes: Mapping[str, bytes | None] | None = None,
        tree: str | None = None,
        links: Mapping[str, str] | None = None,
    ) -> str:
        """Write a commit and give its hash.

        `changes` maps paths to content (None deletes), on top of the first parent; `tree` replaces everything by that tree.
        `links` maps paths to the commits that submodules there stand at.
        """
        self._count += 1
        text = message.encode("utf-8", "surrogateescape")
        self._say(b"commit %s\nmark :%d" % (ref.encode(), self._count))
        self._say(b"author " + signed.line())
        self._say(b"committer " + (committed or signed).line())
        self._say(b"data %d\n%s" % (len(text), text))
        for number, parent in enumerate(parents):
            self._say((b"merge " if number else b"from ") + self._named(parent))
        if tree:
            self._say(b"deleteall")
            self._say(b'M 040000 %s ""' % tree.encode())
        for path, content in (changes or {}).items():
            self._change(path, content)
        for path, target in (links or {}).items():
            self._say(b"M 160000 %s %s" % (target.encode(), _quoted(path)))
        self._say(b"")
        sha = self._ask(b"get-mark :%d" % self._count)
        self._marks[sha] = self._count
        return sha

    def tree_of(self, commit: str) -> str:
        """The hash of the tree of a commit."""
        return self._ask(b'ls %s ""' % self._named(commit)).split()[2]

    def point(self, ref: str, commit: str) -> None:
        """Make a branch or a lightweight tag point there."""
        self._say(b"reset %s\nfrom %s\n" % (ref.encode(), self._named(commit)))

    def close(self) -> None:
        """Write everything to the disk."""
        self._say(b"done")
        self._process.communicate(timeout=60)
        if self._process.returncode:
            raise RuntimeError(f"git fast-import failed with status {self._process.returncode}")

    def _named(self, commit: str) -> bytes:
        return b":%d" % self._marks[commit] if commit in self._marks else commit.encode()

    def _change(self, path: str, content: bytes | None) -> None:
        if content is None:
            self._say(b"D " + _quoted(path))
        else:
            self._say(b"M 100644 inline %s\ndata %d\n%s" % (_quoted(path), len(content), content))

    def _say(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")

    def _ask(self, line: bytes) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._say(line)
        self._process.stdin.flush()
        answer = self._process.stdout.readline().decode().strip()
        if not answer:
            raise RuntimeError(f"git fast-import ended at {line!r}")
        return answer


def _quoted(path: str) -> bytes:
    """A path as fast-import reads it back: in quotes, with C escapes for what would end it."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + escaped.encode("utf-8", "surrogateescape") + b'"'
