"""What a local index is and remembers: its folder, the faults planted in it, and the log of its requests."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

from tests.rig import index_pages
from tests.rig.index_faults import Fault, FaultKind
from tests.rig.index_pages import ServedFile
from tests.rig.wire import Wire


class RequestKind(StrEnum):
    """What a request asked for."""

    ROOT = "root"
    PAGE = "page"
    FILE = "file"
    METADATA = "metadata"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Request:
    """One request and its answer.

    `sent` is the number of body bytes, `header` the request's, with lower-case names. `host` tells the hosts of one
    index apart where it has several.
    """

    method: str
    path: str
    kind: RequestKind
    name: str
    status: int
    sent: int
    header: dict[str, str]
    host: str = ""


@dataclass(slots=True)
class RequestLog:
    """All requests in the order in which they were answered.

    `written` counts the bytes of bodies that were really sent, by name: a client may go away in the middle.
    """

    requests: list[Request] = field(default_factory=list)
    written: Counter[str] = field(default_factory=Counter)

    def of(self, kind: RequestKind | None = None, name: str = "*", *, method: str | None = None) -> list[Request]:
        """Those of a kind and a method whose project or file name matches the pattern `name`."""
        chosen = (r for r in tuple(self.requests) if kind in (None, r.kind) and method in (None, r.method))
        return [request for request in chosen if fnmatchcase(request.name, name)]

    def count(self, kind: RequestKind | None = None, name: str = "*", *, method: str | None = None) -> int:
        """How many there were."""
        return len(self.of(kind, name, method=method))

    def counts(self) -> dict[tuple[str, str], int]:
        """How many there were of each method and kind, such as ``("HEAD", "file")``."""
        return dict(Counter((request.method, request.kind.value) for request in tuple(self.requests)))

    def sent(self, kind: RequestKind | None = None, name: str = "*") -> int:
        """How many body bytes were sent."""
        return sum(request.sent for request in self.of(kind, name))

    def clear(self) -> None:
        """Forget them all."""
        self.requests.clear()
        self.written.clear()


@dataclass(slots=True)
class Planted:
    """A fault in its place: `pattern` is matched with the project of a page or the name of a file."""

    pattern: str
    fault: Fault
    seen: int = 0
    snapshot: dict[str, tuple[ServedFile, ...]] = field(default_factory=dict)

    def strikes(self) -> bool:
        """Count one request and say whether the fault acts on it."""
        self.seen += 1
        begun = self.seen > self.fault.after
        return begun and (self.fault.times is None or self.seen - self.fault.after <= self.fault.times)


@dataclass(slots=True)
class Index:
    """A running index; `url` is for ``--default-index``. `max_age` is in seconds, `compress` gzips pages.

    `wire` is what lies between it and its clients.
    """

    folder: Path
    max_age: int = 0
    compress: bool = True
    port: int = 0
    log: RequestLog = field(default_factory=RequestLog)
    planted: list[Planted] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)
    wire: Wire = field(default_factory=Wire)

    @property
    def url(self) -> str:
        """The address of the index."""
        return f"http://127.0.0.1:{self.port}/simple/"

    def file_url(self, filename: str) -> str:
        """The address of one file."""
        return f"http://127.0.0.1:{self.port}/files/{filename}"

    def plant(self, pattern: str, fault: Fault) -> None:
        """Let `fault` act on pages and files whose project or file name matches `pattern` (``*`` for everything).

        The metadata of a file has the name of the file with ``.metadata`` behind it; the root page has the empty name.
        """
        snapshot = {}
        if fault.kind is FaultKind.STALE:
            names = [name for name in index_pages.projects(self.folder) if fnmatchcase(name, pattern)]
            snapshot = {name: index_pages.files_of(self.folder, name) for name in names}
        with self.lock:
            self.planted.append(Planted(pattern, fault, snapshot=snapshot))

    def heal(self) -> None:
        """Take all faults away."""
        with self.lock:
            self.planted.clear()

    def striking(self, name: str) -> list[Planted]:
        """The faults that act on this request; each counts it."""
        with self.lock:
            return [p for p in self.planted if fnmatchcase(name, p.pattern) and p.strikes()]

    def page_files(self, project: str, faults: Sequence[Planted]) -> tuple[ServedFile, ...]:
        """What the page of `project` lists under these faults."""
        files = next((p.snapshot[project] for p in faults if project in p.snapshot), None)
        if files is None:
            files = index_pages.files_of(self.folder, project)
        with self.lock:
            return tuple(self._distorted(file, {p.fault.kind for p in faults}) for file in files)

    def _distorted(self, file: ServedFile, kinds: set[FaultKind]) -> ServedFile:
        own = {p.fault.kind for p in self.planted if fnmatchcase(file.filename, p.pattern)}
        kinds = kinds | (own & {FaultKind.WRONG_HASH, FaultKind.NO_HASHES, FaultKind.NO_METADATA})
        if FaultKind.NO_UPLOAD_TIMES in kinds:
            file = replace(file, uploaded=None)
        if FaultKind.NO_HASHES in kinds:
            file = replace(file, sha256=None)
        if FaultKind.WRONG_HASH in kinds and file.sha256:
            file = replace(file, sha256=file.sha256[::-1])
        return replace(file, metadata_sha256=None) if FaultKind.NO_METADATA in kinds else file
