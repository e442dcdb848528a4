from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

from bisect_tool.builds.build import Build, Installation, Listing, Wanted
from bisect_tool.builds.python_files import NotReadable, PythonFiles
from bisect_tool.runs.scouting import BIG, saves

NEWEST = Build("torch", "2.15.0.dev20261003", "new.whl", "http://x/new", fingerprint="modified:2")


@dataclass(frozen=True)
class Part:
    packed: int
    version: str = "1"
    revision: str | None = None

    @property
    def checksums(self) -> Mapping[str, int]:
        return {"torch/a.py": zlib.crc32(b"")}

    def read(self, names: Iterable[str]) -> Mapping[str, bytes]:
        raise AssertionError(f"{list(names)} are not needed to know whether thin builds save anything")


@dataclass(frozen=True)
class Place:
    """A channel with one wheel; `python` is what its Python part takes of it, None where no parts can be read."""

    size: int
    python: int | None

    def listing(self, wanted: Wanted) -> Listing:
        return Listing((), (), wanted.package)

    def source_address(self) -> str:
        return "http://x"

    def identified(self, build: Build) -> Build:
        return build

    def current(self, build: Build) -> Build:
        return replace(build, size=self.size)

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:
        return Installation((build.location, *requires))

    def python_part(self, build: Build, folders: tuple[str, ...]) -> PythonFiles:
        if self.python is None:
            raise NotReadable(f"the server of {build.filename} gives no parts, not even of {folders}")
        return Part(self.python)


@pytest.mark.parametrize(
    ("size", "python", "expected"),
    [(10 * BIG, 11_000_000, True), (BIG - 1, 1, False), (BIG, BIG // 5, False), (BIG, BIG // 5 - 1, True)],
)
def test_thin_builds_save_something_where_wheels_are_big_and_little_python(
    size: int, python: int, *, expected: bool
) -> None:
    assert saves(NEWEST, Place(size, python), ("torch",)) == expected


def test_small_wheels_are_not_looked_into() -> None:
    assert not saves(NEWEST, Place(BIG - 1, None), ("torch",))


def test_a_server_that_gives_no_parts_is_no_place_for_thin_builds() -> None:
    with pytest.raises(NotReadable):
        saves(NEWEST, Place(BIG, None), ("torch",))
