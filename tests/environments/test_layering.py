from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.builds.build import FileChange
from bisect_tool.environments.layering import NotLayable, blob_hash, lay_over

OLD = b"old = 1\n"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    site = tmp_path / "base"
    for name, content in {
        "torch/__init__.py": OLD, "torch/version.py": b"v", "torch/_C.so": b"elf", "torch/lib/libtorch.so": b"elf",
        "torch/nn/added_later.py": OLD, "torch/nn/__pycache__/added_later.cpython-311.pyc": b"", "numpy/__init__.py": b"",
        "torch/__pycache__/__init__.cpython-311.pyc": b"compiled",
    }.items():  # fmt: skip
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return site


def laid(base: Path, *changes: FileChange) -> Path:
    own = base.parent / "own"
    own.mkdir()
    lay_over(base, own, ("torch", "torchgen"), changes)
    return own


def test_python_files_are_copies_and_all_else_is_linked(base: Path) -> None:
    own = laid(base)
    assert (own / "numpy").is_symlink()
    assert (own / "torch" / "_C.so").is_symlink()
    assert (own / "torch" / "lib" / "libtorch.so").is_symlink()
    assert not (own / "torch" / "lib").is_symlink()
    copy = own / "torch" / "__init__.py"
    assert not copy.is_symlink()
    assert copy.stat().st_ino != (base / "torch" / "__init__.py").stat().st_ino
    assert copy.stat().st_mtime_ns == (base / "torch" / "__init__.py").stat().st_mtime_ns


def test_a_change_is_written_and_what_was_compiled_of_it_is_gone(base: Path) -> None:
    own = laid(base, FileChange("torch/__init__.py", b"new = 1\n", blob_hash(OLD)))
    assert (own / "torch" / "__init__.py").read_bytes() == b"new = 1\n"
    assert (base / "torch" / "__init__.py").read_bytes() == OLD
    assert list((own / "torch" / "__pycache__").iterdir()) == []
    assert (base / "torch" / "__pycache__" / "__init__.cpython-311.pyc").exists()


def test_a_file_that_the_commit_lacks_goes_with_its_folder(base: Path) -> None:
    own = laid(base, FileChange("torch/nn/added_later.py", None, blob_hash(OLD)))
    assert not (own / "torch" / "nn").exists()
    assert (base / "torch" / "nn" / "added_later.py").exists()


def test_a_file_that_the_nightly_lacks_is_added(base: Path) -> None:
    own = laid(base, FileChange("torchgen/gone_later.py", b"x"), FileChange("torch/a/b.py", b"y"))
    assert (own / "torchgen" / "gone_later.py").read_bytes() == b"x"
    assert (own / "torch" / "a" / "b.py").read_bytes() == b"y"


def test_files_among_the_binaries_or_outside_are_left_alone(base: Path) -> None:
    laid(base, FileChange("torch/lib/libtorch.so", b"new"), FileChange("../base/torch/version.py", b"new"))
    assert (base / "torch" / "lib" / "libtorch.so").read_bytes() == b"elf"
    assert (base / "torch" / "version.py").read_bytes() == b"v"


def test_a_file_that_the_package_does_not_install_is_passed_over(base: Path) -> None:
    own = laid(base, FileChange("torch/not_shipped.py", b"new", blob_hash(OLD)))
    assert not (own / "torch" / "not_shipped.py").exists()


def test_a_wheel_of_another_commit_is_not_laid_over(base: Path) -> None:
    with pytest.raises(NotLayable, match=r"torch/__init__\.py of the base is not as in the commit"):
        laid(base, FileChange("torch/__init__.py", b"new", blob_hash(b"other")))
