"""What a wheel says of itself, read without downloading it: its requirements, its commit, its CUDA version.

METADATA is a file of its own beside wheels since 2025-01-03 (PEP 658); before that, and for `version.py`, parts of the wheel
are asked for (RFC 9110, section 14). A torch wheel of 540 MB costs about 0.2 MB and three or four requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from email.parser import HeaderParser

import requests

from bisect_tool.builds.build import Build
from bisect_tool.builds.nightly.memory import Memory
from bisect_tool.builds.nightly.site import Site
from bisect_tool.builds.nightly.tables import Tables
from bisect_tool.builds.nightly.zip_parts import TAIL, BadArchive, read_members

_ASSIGNED = re.compile(r"^(\w+)(?:\s*:[^=\n]+)?\s*=\s*['\"]([^'\"]*)['\"]", re.MULTILINE)
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class Unreadable(Exception):
    """The inside of a wheel cannot be read from here; the text says why."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What is inside a wheel: Requires-Dist lines, and of `version.py` the commit and the CUDA version.

    `revision` is the commit that it was built from, for a nightly that of the nightly branch; None where nobody looked or the
    package does not say.
    """

    version: str
    requires: tuple[str, ...]
    revision: str | None = None
    cuda: str | None = None


@dataclass(frozen=True, slots=True)
class WheelReader:
    """Reads wheels of a site; what was read once is remembered for as long as the file stays the same."""

    site: Site
    memory: Memory
    tables: Tables

    def requirements(self, build: Build) -> tuple[str, ...]:
        """The Requires-Dist lines of a wheel.

        Raises `Unreadable`, `IndexUnreachable`, `CacheNotWritable`, `DiskFull`.
        """
        kept = self._kept(build)
        if kept:
            return kept.requires
        text = self._metadata_file(build)
        return self.inside(build).requires if text is None else _read(text).requires

    def inside(self, build: Build) -> Inside:
        """All of it, with the commit.

        Raises `Unreadable`, `IndexUnreachable`, `CacheNotWritable`, `DiskFull`.
        """
        kept = self._kept(build)
        if kept:
            return kept
        text = self._metadata_file(build)
        module, version = build.filename.split("-")[:2]
        code, metadata = f"{module}/version.py", f"{module}-{version}.dist-info/METADATA"
        members = self._members(build, [code, *([metadata] if text is None else [])])
        if text is None and metadata not in members:
            raise Unreadable("it holds no METADATA")
        read = _read(text or members[metadata].decode("utf-8", "replace"))
        told = assigned(members.get(code, b""))
        found = Inside(read.version, read.requires, told.get("git_version"), told.get("cuda"))
        if build.fingerprint:
            self.memory.keep_inside(_key(build), build.fingerprint, json.dumps(asdict(found)))
        return found

    def known(self, build: Build) -> Inside | None:
        """What is remembered; nothing is asked for."""
        return self._kept(build)

    def _kept(self, build: Build) -> Inside | None:
        text = self.memory.inside(_key(build), build.fingerprint) if build.fingerprint else None
        if text is None:
            return None
        values = json.loads(text)
        return Inside(values["version"], tuple(values["requires"]), values["revision"], values["cuda"])

    def _metadata_file(self, build: Build) -> str | None:
        """The file beside the wheel, None where there is none."""
        if build.date is not None and build.date.date() < self.tables.metadata_since:
            return None
        answer = self.site.page(f"{build.location}.metadata", "*/*")
        return None if answer is None else answer.content.decode("utf-8", "replace")

    def _members(self, build: Build, names: list[str]) -> Mapping[str, bytes]:
        try:
            with self.site.open() as session:
                return read_members(RemoteFile(self.site, session, build.location), names)
        except BadArchive as error:
            raise Unreadable(str(error)) from error


@dataclass(slots=True)
class RemoteFile:
    """A file that is read in parts. Parts that were read are kept; a file that changes in between cannot be read."""

    site: Site
    session: requests.Session
    address: str
    _size: int | None = None
    _etag: str | None = None
    _parts: dict[int, bytes] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """In bytes; known from the first answer, which brings the end of the file along."""
        if self._size is None:
            self._ask(f"bytes=-{TAIL}")
        assert self._size is not None
        return self._size

    def part(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to before `stop`.

        Raises `Unreadable`, `IndexUnreachable`.
        """
        for begin, held in self._parts.items():
            if begin <= start and stop <= begin + len(held):
                return held[start - begin : stop - begin]
        return self._ask(f"bytes={start}-{stop - 1}")

    def _ask(self, span: str) -> bytes:
        answer = self.site.part(self.session, self.address, span)
        if answer is None:
            raise Unreadable("it is not there")
        told = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        if told is None:
            raise Unreadable("its server gives no parts of files")
        etag = answer.headers.get("ETag")
        if self._etag not in (None, etag) or self._size not in (None, int(told[3])):
            raise Unreadable("it was replaced while it was read")
        self._size, self._etag = int(told[3]), etag
        self._parts[int(told[1])] = answer.content
        return answer.content


def _key(build: Build) -> str:
    """The same whichever host the file comes from."""
    return f"{build.variant}/{build.filename}"


def _read(metadata: str) -> Inside:
    headers = HeaderParser().parsestr(metadata)
    return Inside(str(headers["Version"]), tuple(str(line) for line in headers.get_all("Requires-Dist", [])))


def assigned(module: bytes) -> dict[str, str]:
    """The texts that a module assigns to names at its top level, read without running it."""
    return dict(_ASSIGNED.findall(module.decode("utf-8", "replace")))
