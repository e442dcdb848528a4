"""A file that is being fetched: its bytes, and beside them what of it is here and which content it is the beginning of.

A stretch is noted only after its bytes were written. What was not noted when a process was killed is fetched again.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from bisect_tool.environments.pieces import Claim, Pieces

FORMAT = 1
_BETWEEN_NOTES = 4 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Content:
    """What tells one content of an address from another: its size and the ETag, or time of change, that the server gives."""

    size: int
    validator: str | None


@dataclass(frozen=True, slots=True)
class Label:
    """What a kept file is: for people, and for `bisect cache list`."""

    package: str
    version: str
    filename: str


@dataclass(slots=True)
class PartialFile:
    """The file at `path`. Whoever has the lock of the wheel may open it; then any number of threads may use it."""

    path: Path
    label: Label
    content: Content | None = None
    pieces: Pieces = field(default_factory=lambda: Pieces(0))
    is_closed: bool = False
    _descriptor: int | None = None
    _noted: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def is_complete(self) -> bool:
        """Whether all of it is here."""
        return self.content is not None and self.pieces.is_complete

    def begin(self, content: Content) -> None:
        """Take up `content`: what is here of another one is forgotten. Raises `OSError`."""
        with self._lock:
            if self.content != content or content.validator is None:
                self._open(os.O_TRUNC)
                self.content, self.pieces = content, replace(self.pieces, size=content.size, here=[], claims=[])
                self._note()

    def write(self, claim: Claim, block: bytes) -> None:
        """Put the next bytes of a claim into their place; nothing once the file is closed. Raises `OSError`."""
        with self._lock:
            if self.is_closed and self._descriptor is None:
                return
            _write_all(self._open(0), block, claim.at)
            self.pieces.arrived(claim, len(block))
            if claim.is_served or self.pieces.count - self._noted >= _BETWEEN_NOTES:
                self._note()

    def read(self, start: int, stop: int) -> bytes:
        """Bytes that are here, or the first of them; nothing once it is closed. Raises `OSError`."""
        with self._lock:
            if self._descriptor is None and not self.is_closed:
                self._open(0)
            return b"" if self._descriptor is None else os.pread(self._descriptor, stop - start, start)

    def close(self) -> None:
        """Note what is here, and close."""
        with self._lock:
            self.is_closed = True
            if self._descriptor is not None:
                with suppress(OSError):
                    self._note()
                os.close(self._descriptor)
                self._descriptor = None

    def remove(self) -> None:
        """Forget the file. Raises `OSError`."""
        self.close()
        self.content, self.pieces = None, replace(self.pieces, size=0, here=[], claims=[])
        note_of(self.path).unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def _open(self, flags: int) -> int:
        if self._descriptor is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | flags, 0o644)
        elif flags & os.O_TRUNC:
            os.ftruncate(self._descriptor, 0)
        return self._descriptor

    def _note(self) -> None:
        if self.content is None:
            return
        self._noted = self.pieces.count
        note = {"format": FORMAT, **asdict(self.label), **asdict(self.content), "here": self.pieces.here}
        part = note_of(self.path).with_suffix(".json.part")
        part.write_text(json.dumps(note) + "\n", encoding="utf-8")
        part.replace(note_of(self.path))


def note_of(path: Path) -> Path:
    """Where stands what is here of the file at `path`."""
    return path.with_suffix(".json")


def open_partial(path: Path, label: Label) -> PartialFile:
    """The file at `path` with what an earlier process left of it; what cannot be read counts for nothing."""
    file = PartialFile(path, label)
    with suppress(OSError, ValueError, KeyError, TypeError):
        note = json.loads(note_of(path).read_text(encoding="utf-8"))
        pieces = Pieces(int(note["size"]))
        for start, stop in note["here"]:
            pieces.add(int(start), int(stop))
        is_whole = path.stat().st_size >= max((stop for _, stop in pieces.here), default=0)
        if note["format"] == FORMAT and is_whole:
            file.content, file.pieces = Content(pieces.size, note["validator"]), pieces
    return file


def _write_all(descriptor: int, block: bytes, at: int) -> None:
    view = memoryview(block)
    while view:
        written = os.pwrite(descriptor, view, at)
        view, at = view[written:], at + written
