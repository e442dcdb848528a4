"""Python files that a base has and the Python part laid over it has not: they go, but for those that the binaries name.

Both ways are needed, as was seen on releases: Inductor imports every module that it finds in some of its folders, so that one
of a newer build breaks the older ones around it; and newer binaries import a module (`torch._custom_class_base`) that the
older Python part lacks.
"""

from __future__ import annotations

import mmap
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from bisect_tool.builds.package_parts import is_python_part
from bisect_tool.environments.layering import forget_compiled

_EXTENSION = re.compile(
    r"(\.cpython-|\.abi3\.|python).*\.so\b"
)  # those that import Python; the others are ten times as big


def remove_left_over(own: Path, base: Path, folders: tuple[str, ...], names: Collection[str]) -> None:
    """Remove the Python files of the tree `own` in `folders` that are not among `names`, unless binaries of `base` name them.

    Nothing is removed through a link. Raises `OSError`.
    """
    left = sorted(set(_python_files(own, folders)) - set(names))
    needed = _named(base, folders, left) if left else set()
    for name in left:
        if name not in needed:
            forget_compiled(own / name)
            (own / name).unlink()
            _remove_empty((own / name).parent, own)


def _python_files(own: Path, folders: tuple[str, ...]) -> Iterator[str]:
    for folder in folders:
        for file in _files(own / folder):
            name = file.relative_to(own).as_posix()
            if is_python_part(name, folders) and "__pycache__" not in file.parts:
                yield name


def _files(folder: Path) -> Iterator[Path]:
    """The files under a folder; links are not followed."""
    for entry in folder.iterdir() if folder.is_dir() and not folder.is_symlink() else ():
        if entry.is_dir() and not entry.is_symlink():
            yield from _files(entry)
        elif not entry.is_symlink():
            yield entry


def _named(base: Path, folders: tuple[str, ...], names: Iterable[str]) -> set[str]:
    """Those of the files whose module stands in an extension module of the base, as text."""
    told: set[str] = set()
    for library in _extensions(base, folders):
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for folder in folders:
                told.update(found.decode() for found in re.findall(folder.encode() + rb"(?:\.[A-Za-z_]\w*)+", content))
    return {name for name in names if name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") in told}


def _extensions(base: Path, folders: tuple[str, ...]) -> Iterator[Path]:
    for folder in folders:
        for file in (base / folder).rglob("*.so*") if (base / folder).is_dir() else ():
            if _EXTENSION.search(file.name) and file.is_file() and file.stat().st_size:
                yield file


def _remove_empty(folder: Path, until: Path) -> None:
    """A folder without files would still be imported, as a namespace package."""
    while folder != until and all(child.name == "__pycache__" for child in folder.iterdir()):
        shutil.rmtree(folder)
        folder = folder.parent
