"""ZIP files that are planned first and read later: any part of them, without ever being whole in memory or on disk."""

from __future__ import annotations

import hashlib
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

CHUNK = 1 << 20
UPLOAD_PART = 8 << 20  # bytes of a part when a large file is uploaded to S3 in parts
LARGEST = 0xFFFFFFFE  # more needs ZIP64, which no torch wheel has needed so far
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5HL")
_END = struct.Struct("<4s4H2LH")
STORED, DEFLATED = 0, 8
NAMES_ARE_UTF8 = 0x800


class Part(Protocol):
    """Some bytes of an archive."""

    @property
    def size(self) -> int:
        """How many."""

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        """Those from `start` up to but without `stop`, in pieces."""


@dataclass(frozen=True, slots=True)
class Made:
    """Bytes in memory."""

    content: bytes

    @property
    def size(self) -> int:
        return len(self.content)

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        yield self.content[start:stop]


@dataclass(frozen=True, slots=True)
class Copied:
    """`size` bytes of a file from `begin` on."""

    path: Path
    begin: int
    size: int

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(self.begin + start)
            while start < stop:
                piece = file.read(min(CHUNK, stop - start))
                if not piece:
                    raise OSError(f"{self.path} became shorter while it was served")
                start += len(piece)
                yield piece


@dataclass(frozen=True)
class Zeros:
    """Nothing but zeros, to give a wheel the size of a real one."""

    size: int

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        while start < stop:
            piece = bytes(min(CHUNK, stop - start))
            start += len(piece)
            yield piece

    @cached_property
    def crc(self) -> int:
        """Its CRC-32."""
        crc = 0
        for piece in self.read(0, self.size):
            crc = zlib.crc32(piece, crc)
        return crc

    @cached_property
    def sha256(self) -> bytes:
        """Its SHA-256."""
        digest = hashlib.sha256()
        for piece in self.read(0, self.size):
            digest.update(piece)
        return digest.digest()


@dataclass(frozen=True)
class Member:
    """A file in an archive. `compressed` and `size` are bytes, `date_time` is as in `zipfile.ZipInfo`."""

    name: str
    crc: int
    compressed: int
    size: int
    method: int = DEFLATED
    flags: int = 0
    date_time: tuple[int, int, int, int, int, int] = (2020, 1, 1, 0, 0, 0)
    attributes: int = 0o644 << 16

    @cached_property
    def encoded(self) -> bytes:
        """The name as it is written."""
        return self.name.encode()

    @property
    def stamp(self) -> tuple[int, int]:
        """Time and date as DOS has them."""
        year, month, day, hour, minute, second = self.date_time
        return hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day

    @property
    def facts(self) -> tuple[int, ...]:
        """What both headers say."""
        utf8 = 0 if self.name.isascii() else NAMES_ARE_UTF8
        return 20, self.flags | utf8, self.method, *self.stamp, self.crc, self.compressed, self.size

    def header(self) -> bytes:
        """What stands before its bytes."""
        return _LOCAL.pack(b"PK\3\4", *self.facts, len(self.encoded), 0) + self.encoded

    def entry(self, offset: int) -> bytes:
        """Its line in the list at the end; `offset` is where its header stands."""
        return self._entry_start + offset.to_bytes(4, "little") + self.encoded

    @cached_property
    def _entry_start(self) -> bytes:
        """A release has thousands of members, and each of its nightlies lists them anew."""
        unix = 3 << 8 | 20
        rest = (len(self.encoded), 0, 0, 0, 0, self.attributes)
        return _CENTRAL.pack(b"PK\1\2", unix, *self.facts, *rest)


def deflated(name: str, content: bytes, *, like: Member | None = None) -> tuple[Member, Made]:
    """A member with this content; time and attributes are those of `like`."""
    squeezer = zlib.compressobj(1, zlib.DEFLATED, -15)
    squeezed = squeezer.compress(content) + squeezer.flush()
    base = like or Member(name, 0, 0, 0)
    member = Member(
        name,
        zlib.crc32(content),
        len(squeezed),
        len(content),
        date_time=base.date_time,
        attributes=base.attributes,
    )
    return member, Made(squeezed)


@dataclass(frozen=True)
class Archive:
    """A planned archive, which is a `Body`: parts in their order and where each begins."""

    parts: tuple[Part, ...]
    begins: tuple[int, ...]
    size: int
    etag: str

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        stop = min(stop, self.size)
        place = bisect_right(self.begins, start) - 1
        while start < stop:
            part, begin = self.parts[place], self.begins[place]
            end = min(stop, begin + part.size)
            if start < end:
                yield from part.read(start - begin, end - begin)
            start, place = end, place + 1

    def write(self, path: Path) -> Path:
        """Put the whole archive into a file."""
        with path.open("wb") as file:
            for piece in self.read(0, self.size):
                file.write(piece)
        return path


@dataclass(slots=True)
class ArchivePlan:
    """Collects members in their order; `finish` gives the archive."""

    parts: list[Part] = field(default_factory=list)
    entries: list[bytes] = field(default_factory=list)
    at: int = 0

    def add(self, member: Member, content: Part) -> None:
        """A member with a header of our own; `content` are its bytes as they are stored."""
        self.entries.append(member.entry(self.at))
        self._put(Made(member.header()))
        self._put(content)

    def copy(self, run: Copied, members: Sequence[tuple[int, Member]]) -> None:
        """Several members of a file with their headers, as they are: (where each header stands in the file, member)."""
        self.entries += [member.entry(self.at + offset - run.begin) for offset, member in members]
        self._put(run)

    def finish(self) -> Archive:
        """The archive with its list at the end. Raises `ValueError` when it would need ZIP64."""
        listed = b"".join(self.entries)
        count = len(self.entries)
        if self.at + len(listed) > LARGEST or count > 0xFFFE:
            raise ValueError("the archive would need ZIP64, which the rig does not write")
        end = _END.pack(b"PK\5\6", 0, 0, count, count, len(listed), self.at, 0)
        self._put(Made(listed + end))
        begins = [0]
        for part in self.parts[:-1]:
            begins.append(begins[-1] + part.size)
        return Archive(tuple(self.parts), tuple(begins), self.at, _etag(listed, self.at))

    def _put(self, part: Part) -> None:
        self.parts.append(part)
        self.at += part.size


def _etag(listed: bytes, size: int) -> str:
    """As for a file that was uploaded in parts. The list at the end has the CRC of every member."""
    digest = hashlib.md5(listed, usedforsecurity=False).hexdigest()
    return f'"{digest}-{-(-size // UPLOAD_PART)}"'
