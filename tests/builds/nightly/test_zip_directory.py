from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field

import pytest

from bisect_tool.builds.nightly.zip_directory import GAP, members_of, read_many
from bisect_tool.builds.nightly.zip_parts import BadArchive


@dataclass
class InMemory:
    content: bytes
    asked: list[tuple[int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.content)

    def part(self, start: int, stop: int) -> bytes:
        self.asked.append((start, stop))
        return self.content[start:stop]


def archive(files: dict[str, bytes]) -> InMemory:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            method = zipfile.ZIP_STORED if name.endswith(".so") else zipfile.ZIP_DEFLATED
            made.writestr(name, content, method)
    return InMemory(buffer.getvalue())


FILES = {
    "torch/a.py": b"a" * 100,
    "torch/é.py": b"b",
    "torch/_C.so": bytes(GAP + 1024),
    "torch/z.py": b"z",
    "torch/e.py": b"",
}


def test_members_that_lie_together_are_read_at_once() -> None:
    file = archive(FILES)
    members = members_of(file)
    assert [member.name for member in members] == list(FILES)
    file.asked.clear()
    wanted = [member for member in members if member.name.endswith(".py")]
    assert read_many(file, wanted) == {name: content for name, content in FILES.items() if name.endswith(".py")}
    assert len(file.asked) == 2


def test_nothing_is_asked_for_nothing() -> None:
    file = archive(FILES)
    assert read_many(file, []) == {}
    assert file.asked == []


def test_a_member_that_was_damaged_is_refused() -> None:
    file = archive({"torch/_C.so": b"x" * 100})
    (member,) = members_of(file)
    at = file.content.index(b"x" * 100)
    file.content = file.content[:at] + b"y" + file.content[at + 1 :]
    with pytest.raises(BadArchive, match=r"torch/_C\.so is damaged"):
        read_many(file, [member])


def test_a_directory_that_was_damaged_is_refused() -> None:
    file = archive(FILES)
    at = file.content.rindex(b"PK\1\2")
    file.content = file.content[:at] + b"XX" + file.content[at + 2 :]
    with pytest.raises(BadArchive, match="directory is damaged"):
        members_of(file)
