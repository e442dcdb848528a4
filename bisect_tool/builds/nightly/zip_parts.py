"""Single members of a ZIP archive that lies elsewhere, from a few parts of it.

The directory of a torch wheel has 13,000 entries and 1.2 MB; the wanted ones stand near its beginning (`torch/version.py`) and
at its end (`*.dist-info`), so that it is searched piece by piece instead of being read whole, as `zipfile` would.

The format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

TAIL = 64 * 1024
_PIECE = 128 * 1024
_OVERLAP = 1024  # longer than any entry that is looked for
_LOCAL_SLACK = 256  # local headers may carry other extra fields than the directory
_END, _ENTRY, _LOCAL = struct.Struct("<4s4H2LH"), struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s5H3L2H")
_STORED, _DEFLATED = 0, 8
_TOO_LARGE_FOR_32_BITS = 0xFFFFFFFF


class BadArchive(Exception):
    """It cannot be read as an archive; the text says why."""


class Parts(Protocol):
    """A file that can be read in parts."""

    @property
    def size(self) -> int:
        """In bytes."""

    def part(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to before `stop`."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A member: its name, how it is packed, the bytes that it takes, and where its local header begins."""

    name: str
    method: int
    packed: int
    offset: int


def read_members(file: Parts, names: Sequence[str]) -> dict[str, bytes]:
    """The contents of the members called `names`; what is not there is left out.

    Raises `BadArchive`.
    """
    start, stop = directory_of(file)
    found: dict[str, _Entry] = {}
    for piece in _pieces(start, stop, max(0, file.size - TAIL)):
        wanted = [name for name in names if name not in found]
        if not wanted:
            break
        found |= _entries(file.part(*piece), wanted)
    return {name: _content(file, entry) for name, entry in found.items()}


def directory_of(file: Parts) -> tuple[int, int]:
    """Where the directory begins and ends. Raises `BadArchive`."""
    tail = file.part(max(0, file.size - TAIL), file.size)
    position = tail.rfind(b"PK\5\6")
    if position < 0 or position + _END.size > len(tail):
        raise BadArchive("it has no directory at its end")
    length, offset = _END.unpack_from(tail, position)[5:7]
    if _TOO_LARGE_FOR_32_BITS in (length, offset):
        raise BadArchive("it is an archive of more than 4 GB")
    if offset + length > file.size:
        raise BadArchive("its directory lies outside of it")
    return offset, offset + length


def _pieces(start: int, stop: int, tail: int) -> Iterator[tuple[int, int]]:
    """The parts of the directory in the order of the search: first what is behind `tail`, which was read already."""
    if tail < stop:
        yield max(start, tail), stop
    position = start
    while position < min(stop, tail):
        yield position, min(stop, position + _PIECE)
        position += _PIECE - _OVERLAP


def _entries(piece: bytes, names: Sequence[str]) -> dict[str, _Entry]:
    """The members among `names` in a piece of a directory; it may begin and end anywhere."""
    found = {}
    for name in names:
        for match in re.finditer(re.escape(name.encode()), piece):
            entry = _entry(piece, match.start() - _ENTRY.size, name)
            if entry is not None:
                found[name] = entry
    return found


def _entry(piece: bytes, start: int, name: str) -> _Entry | None:
    if start < 0 or piece[start : start + 4] != b"PK\1\2":
        return None
    fields = _ENTRY.unpack_from(piece, start)
    if fields[10] != len(name.encode()):
        return None
    return _Entry(name, method=fields[4], packed=fields[8], offset=fields[16])


def _content(file: Parts, entry: _Entry) -> bytes:
    stop = entry.offset + _LOCAL.size + len(entry.name) + _LOCAL_SLACK + entry.packed
    read = file.part(entry.offset, min(stop, file.size))
    if len(read) < _LOCAL.size or read[:4] != b"PK\3\4":
        raise BadArchive(f"{entry.name} is not where the directory says")
    fields = _LOCAL.unpack_from(read)
    begin = _LOCAL.size + fields[9] + fields[10]
    packed = read[begin : begin + entry.packed]
    if len(packed) < entry.packed:
        packed = file.part(entry.offset + begin, entry.offset + begin + entry.packed)
    return unpacked(entry.name, entry.method, packed)


def unpacked(name: str, method: int, packed: bytes) -> bytes:
    """The content of the member `name`, which was packed with `method`. Raises `BadArchive`."""
    if method == _STORED:
        return packed
    if method != _DEFLATED:
        raise BadArchive(f"{name} is packed in an unusual way ({method})")
    try:
        return zlib.decompress(packed, -zlib.MAX_WBITS)
    except zlib.error as error:
        raise BadArchive(f"{name} is damaged: {error}") from error
