"""The whole directory of a ZIP archive that lies elsewhere, and many of its members in few requests.

The Python files of a torch wheel are 2,800 members that lie together: sorted by where they begin, four spans of 12 MB hold them
all (measured, `docs/speed.md`). The format: see `zip_parts`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bisect_tool.builds.nightly.zip_parts import BadArchive, Parts, directory_of, unpacked

GAP = 256 * 1024  # bytes that are read in vain rather than asking once more
LONGEST = 16 * 1024 * 1024  # of one request
_SLACK = 512  # local headers may carry other extra fields than the directory
_ENTRY, _LOCAL = struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s5H3L2H")


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive. `packed` and `size` in bytes; `offset` is where its local header begins."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    offset: int


def members_of(file: Parts) -> tuple[Member, ...]:
    """All members, in the order of the directory; folders are none.

    Raises `BadArchive`, and what reading `file` raises.
    """
    start, stop = directory_of(file)
    content = file.part(start, stop)
    return tuple(member for member in _members(content) if not member.name.endswith("/"))


def read_many(file: Parts, members: Iterable[Member]) -> dict[str, bytes]:
    """The contents of `members`, each compared with its checksum.

    Raises `BadArchive`, and what reading `file` raises.
    """
    found: dict[str, bytes] = {}
    for run in _runs(sorted(members, key=lambda member: member.offset)):
        start = run[0].offset
        content = file.part(start, min(file.size, _end(run[-1])))
        found |= {member.name: _content(member, content, member.offset - start) for member in run}
    return found


def _members(content: bytes) -> Iterator[Member]:
    position = 0
    while position < len(content):
        if content[position : position + 4] != b"PK\1\2" or position + _ENTRY.size > len(content):
            raise BadArchive("its directory is damaged")
        fields = _ENTRY.unpack_from(content, position)
        name, extra, comment = fields[10:13]
        begin = position + _ENTRY.size
        yield Member(
            name=content[begin : begin + name].decode("utf-8", "replace"),
            method=fields[4],
            crc=fields[7],
            packed=fields[8],
            size=fields[9],
            offset=fields[16],
        )
        position = begin + name + extra + comment


def _end(member: Member) -> int:
    return member.offset + _LOCAL.size + len(member.name.encode()) + _SLACK + member.packed


def _runs(members: list[Member]) -> Iterator[list[Member]]:
    """Members that lie near each other, oldest place first."""
    run: list[Member] = []
    for member in members:
        is_near = run and member.offset - _end(run[-1]) <= GAP and _end(member) - run[0].offset <= LONGEST
        if run and not is_near:
            yield run
            run = []
        run.append(member)
    if run:
        yield run


def _content(member: Member, content: bytes, at: int) -> bytes:
    if content[at : at + 4] != b"PK\3\4" or at + _LOCAL.size > len(content):
        raise BadArchive(f"{member.name} is not where the directory says")
    fields = _LOCAL.unpack_from(content, at)
    begin = at + _LOCAL.size + fields[9] + fields[10]
    plain = unpacked(member.name, member.method, content[begin : begin + member.packed])
    if zlib.crc32(plain) != member.crc:
        raise BadArchive(f"{member.name} is damaged")
    return plain
