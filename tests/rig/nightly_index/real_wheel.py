"""A torch release on disk: where its members lie, and the few of its files that are read."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from tests.rig.nightly_index.archive import Copied, Member

_LOCAL_HEADER = 30


@dataclass(frozen=True)
class RealWheel:
    """A wheel on disk. What reads it raises `zipfile.BadZipFile` where it is none."""

    path: Path

    @cached_property
    def tag(self) -> str:
        """The last three parts of its file name."""
        return "-".join(self.path.stem.split("-")[-3:])

    @cached_property
    def info(self) -> str:
        """The folder of its description."""
        return "-".join(self.path.stem.split("-")[:2]) + ".dist-info"

    @cached_property
    def members(self) -> tuple[tuple[int, int, Member], ...]:
        """Every member in the order of the file: where it begins, where the next thing begins, what it is."""
        with zipfile.ZipFile(self.path) as archive:
            found = sorted(archive.infolist(), key=lambda info: info.header_offset)
            ends = [*(info.header_offset for info in found[1:]), archive.start_dir]
        return tuple((i.header_offset, end, _member(i)) for i, end in zip(found, ends, strict=True))

    def read(self, name: str) -> bytes:
        """The content of one file inside. Raises `KeyError` when there is none."""
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(name)

    @cached_property
    def description(self) -> tuple[str, str, str]:
        """METADATA, RECORD and version.py."""
        names = (f"{self.info}/METADATA", f"{self.info}/RECORD", "torch/version.py")
        metadata, record, version = (self.read(name).decode() for name in names)
        return metadata, record, version

    def stored(self, begin: int, member: Member) -> Copied:
        """The bytes of a member as they are stored, without its header."""
        with self.path.open("rb") as file:
            file.seek(begin)
            name_length, extra_length = struct.unpack("<26x2H", file.read(_LOCAL_HEADER))
        return Copied(self.path, begin + _LOCAL_HEADER + name_length + extra_length, member.compressed)


@lru_cache(maxsize=16)
def real_wheel(path: Path) -> RealWheel:
    """The wheel at a path, whose list of files is read once."""
    return RealWheel(path)


def _member(info: zipfile.ZipInfo) -> Member:
    return Member(
        info.filename,
        info.CRC,
        info.compress_size,
        info.file_size,
        info.compress_type,
        info.flag_bits & ~0x800,
        info.date_time,
        info.external_attr,
    )
