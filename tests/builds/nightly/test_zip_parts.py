from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field

import pytest

from bisect_tool.builds.nightly.zip_parts import BadArchive, read_members

NAMES = ["torch/version.py", "torch-2.16.0.dev20261007+cu130.dist-info/METADATA"]


@dataclass
class Bytes:
    content: bytes
    read: list[tuple[int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.content)

    def part(self, start: int, stop: int) -> bytes:
        self.read.append((start, stop))
        return self.content[start:stop]


def archive(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in members:
            file.writestr(name, content)
        file.comment = comment
    return buffer.getvalue()


def test_members_of_a_small_archive() -> None:
    content = archive(("torch/version.py", b"git_version = 'abc'\n"), ("other", b"x"), (NAMES[1], b"Name: torch\n"))
    assert read_members(Bytes(content), NAMES) == {NAMES[0]: b"git_version = 'abc'\n", NAMES[1]: b"Name: torch\n"}


def test_a_stored_member_and_a_comment() -> None:
    content = archive((NAMES[0], b"a = 1\n"), method=zipfile.ZIP_STORED, comment=b"PK\5 is not the end")
    assert read_members(Bytes(content), NAMES) == {NAMES[0]: b"a = 1\n"}


def test_a_name_that_is_only_part_of_another_is_not_taken() -> None:
    content = archive(
        ("not/torch/version.py", b"1"), ("torch/version.pyc", b"2"), ("x" * 46 + "torch/version.py", b"3")
    )
    assert read_members(Bytes(content), NAMES) == {}


def like_torch(names: int, place: int) -> bytes:
    """An archive whose directory is as long as that of a torch wheel, `torch/version.py` being member number `place`."""
    others = [(f"torch/include/ATen/ops/some_operator_with_a_long_name_{number:06}.h", b"") for number in range(names)]
    others[place] = (NAMES[0], b"git_version = 'abc'\n")
    return archive(*others, (NAMES[1], b"Name: torch\n" * 3000))


@pytest.mark.parametrize(("place", "most"), [(85, 270_000), (11_900, 140_000)])
def test_little_is_read_of_a_long_directory(place: int, most: int) -> None:
    file = Bytes(like_torch(12_000, place))
    assert file.size > 1_200_000
    assert set(read_members(file, NAMES)) == set(NAMES)
    assert sum(stop - start for start, stop in file.read) < most


def test_a_member_in_the_middle_of_a_long_directory_is_found_too() -> None:
    assert set(read_members(Bytes(like_torch(12_000, 6_000)), NAMES)) == set(NAMES)


@pytest.mark.parametrize("content", [b"", b"<html>log in</html>", archive((NAMES[0], b"x"))[:-30]])
def test_what_is_no_archive(content: bytes) -> None:
    with pytest.raises(BadArchive, match="no directory"):
        read_members(Bytes(content), NAMES)


def test_a_damaged_member() -> None:
    content = archive((NAMES[0], b"git_version = 'abc'\n" * 50))
    broken = content[:60] + b"\xff" * 10 + content[70:]
    with pytest.raises(BadArchive, match="is damaged"):
        read_members(Bytes(broken), NAMES)


def test_a_directory_that_points_elsewhere() -> None:
    with pytest.raises(BadArchive, match="outside of it"):
        read_members(Bytes(archive((NAMES[0], b"x"))[30:]), NAMES)
