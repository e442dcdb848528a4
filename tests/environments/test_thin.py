from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bisect_tool.builds.python_files import NotReadable
from bisect_tool.environments.layering import NotLayable
from bisect_tool.environments.thin import MARKER, lay_thin, wrong_files

FOLDERS = ("torch", "torchgen")


@dataclass
class Wheel:
    """The Python part of a wheel, in memory."""

    files: Mapping[str, bytes]
    version: str = "1.0"
    revision: str | None = "a" * 40
    packed: int = 0
    asked: list[str] = field(default_factory=list)
    claims: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def checksums(self) -> Mapping[str, int]:
        return {name: zlib.crc32(self.claims.get(name, content)) for name, content in self.files.items()}

    def read(self, names: Iterable[str]) -> Mapping[str, bytes]:
        self.asked = list(names)
        return {name: self.files[name] for name in self.asked}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    site = tmp_path / "base"
    for name, content in {
        "torch/__init__.py": b"same", "torch/nn.py": b"newer", "torch/version.py": b"v2", "torch/_C.so": b"elf",
        "torch/lib/libtorch.so": b"elf", "torch/lib/libtorch_python.so": b"\0torch.added_later\0",
        "torch/kernel/newer.py": b"import everything", "torch/added_later.py": b"x", "torch/opt/__init__.py": b"newer",
        "torch/__pycache__/nn.cpython-311.pyc": b"compiled", "numpy/__init__.py": b"",
    }.items():  # fmt: skip
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return site


def laid(base: Path, wheel: Wheel) -> Path:
    own = base.parent / "own"
    own.mkdir()
    lay_thin(base, own, FOLDERS, lambda: wheel, base.parent)
    return own


def test_only_files_that_differ_are_fetched_and_nothing_is_written_through_a_link(base: Path) -> None:
    wheel = Wheel({"torch/__init__.py": b"same", "torch/nn.py": b"older", "torchgen/model.py": b"y"})
    own = laid(base, wheel)
    assert wheel.asked == ["torch/nn.py", "torchgen/model.py"]
    assert (own / "torch/nn.py").read_bytes() == b"older"
    assert (base / "torch/nn.py").read_bytes() == b"newer"
    assert not list((own / "torch/__pycache__").iterdir())
    assert (base / "torch/__pycache__/nn.cpython-311.pyc").exists()
    assert (own / "torchgen/model.py").read_bytes() == b"y"


def test_binaries_and_what_newer_binaries_import_stay(base: Path) -> None:
    own = laid(base, Wheel({"torch/nn.py": b"older", "torch/kernel/older.py": b""}))
    assert (own / "torch/version.py").read_bytes() == b"v2"
    assert (own / "torch/_C.so").is_symlink()
    assert (own / "torch/added_later.py").read_bytes() == b"x"


def test_what_is_newer_than_the_python_part_goes(base: Path) -> None:
    own = laid(base, Wheel({"torch/nn.py": b"older"}))
    assert sorted(path.name for path in (own / "torch").iterdir()) == [
        "_C.so", "__pycache__", "added_later.py", "lib", "nn.py", "version.py",
    ]  # fmt: skip
    assert (base / "torch/kernel/newer.py").exists()


def test_a_package_of_the_base_does_not_hide_a_module_of_the_wheel(base: Path) -> None:
    own = laid(base, Wheel({"torch/opt.py": b"older"}))
    assert not (own / "torch/opt").exists()
    assert (base / "torch/opt/__init__.py").exists()


def test_the_marker_says_what_was_laid_and_proves_it(base: Path) -> None:
    own = laid(base, Wheel({"torch/nn.py": b"older"}))
    told = json.loads((base.parent / MARKER).read_text())
    assert told["python_of"] == {"version": "1.0", "git_version": "a" * 40}
    assert (told["files"], told["replaced"]) == (1, 1)
    assert wrong_files(own, base.parent) == []
    (own / "torch/nn.py").write_bytes(b"changed")
    assert wrong_files(own, base.parent) == ["torch/nn.py"]


def test_content_that_is_not_what_the_directory_says_is_not_laid(base: Path) -> None:
    wheel = Wheel({"torch/nn.py": b"older"}, claims={"torch/nn.py": b"other"})
    with pytest.raises(NotLayable, match=r"^torch/nn\.py is not as in the wheel"):
        laid(base, wheel)


def test_a_wheel_that_cannot_be_read_in_parts_is_not_laid(base: Path) -> None:
    def unreadable() -> Wheel:
        raise NotReadable("its server gives no parts of files")

    (base.parent / "own").mkdir()
    with pytest.raises(NotLayable, match="gives no parts"):
        lay_thin(base, base.parent / "own", FOLDERS, unreadable, base.parent)
