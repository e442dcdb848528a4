"""Answers of GitHub's API on disk, with their ETags: asking again whether one changed costs nothing of the rate limit.

Not cachecontrol, which also keeps the request headers that an answer varies with: GitHub's vary with the token.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bisect_tool.builds.cache_faults import cannot_keep

_LAYOUT = 1


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of an answer; `seen` is when the server last said so, in seconds since 1970."""

    etag: str
    content: Any
    next: str | None
    seen: float = 0.0


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """One file an answer in `folder`, named after its address."""

    folder: Path

    def read(self, address: str) -> Kept | None:
        """What was kept for this address; a damaged file counts as none."""
        try:
            path = self._path(address)
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["layout"] != _LAYOUT or found["address"] != address:
                return None
            return Kept(found["etag"], found["content"], found["next"], path.stat().st_mtime)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, address: str, kept: Kept) -> None:
        """Keep an answer; a reader sees the old one or the new one.

        Raises `DiskFull`, `CacheNotWritable`.
        """
        content = {"layout": _LAYOUT, "address": address, "etag": kept.etag, "content": kept.content, "next": kept.next}
        path = self._path(address)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        except OSError as error:
            raise cannot_keep("answers of GitHub", self.folder, error) from error
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(content, file)
            Path(name).replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise cannot_keep("answers of GitHub", self.folder, error) from error

    def confirm(self, address: str) -> None:
        """The server said just now that what is kept has not changed."""
        with contextlib.suppress(OSError):  # then it is only asked again sooner
            os.utime(self._path(address))

    def _path(self, address: str) -> Path:
        digest = hashlib.sha256(address.encode("utf-8", "surrogateescape")).hexdigest()
        return self.folder / digest[:2] / f"{digest[2:]}.json"
