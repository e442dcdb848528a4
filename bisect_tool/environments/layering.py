"""Files of one commit laid over the environment of another build, in a tree of its own.

Everything that the base has installed is linked by name (symbolic links), but for the folders that the files belong to. Those
are real folders: Python files are copied, shared libraries and what is built with them are linked. Nothing is ever written
through a link, and no hard links are made: the base is shared with uv's cache.

Libraries of CUDA packages are found relative to torch's own: they are linked beside it, as in the base.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from bisect_tool.builds.build import FileChange

# Parts of `torch/` that hold no Python of the package: binaries, headers, programs, data for CMake, C++ tests.
_OF_BINARIES = frozenset({"lib", "bin", "include", "share", "test"})
_LIBRARY = (".so", ".pyd", ".dylib", ".a")
_COMPILED = "__pycache__"


class NotLayable(Exception):
    """The files cannot be laid over this base; the text is the reason."""


def lay_over(base: Path, own: Path, folders: tuple[str, ...], changes: Iterable[FileChange]) -> None:
    """Fill the site-packages folder `own` with what `base` has, its `folders` changed by `changes`.

    Raises `NotLayable` when a file of the base is not as its commit says; `OSError`.
    """
    for entry in sorted(base.iterdir()):
        target = own / entry.name
        if entry.name in folders and entry.is_dir():
            _copy(entry, target, is_top=True)
        elif entry.name != _COMPILED and not target.exists():
            target.symlink_to(entry)
    for change in changes:
        _apply(change, base, own)


def _copy(source: Path, target: Path, *, is_top: bool = False) -> None:
    """Folders and Python files as they are, with the time of change that compiled files are checked against."""
    target.mkdir()
    for entry in source.iterdir():
        to = target / entry.name
        if entry.is_dir() and not (is_top and entry.name in _OF_BINARIES):
            _copy(entry, to)
        elif entry.is_dir() or _is_library(entry.name):
            to.symlink_to(entry)
        else:
            shutil.copy2(entry, to)


def _is_library(name: str) -> bool:
    return name.endswith(_LIBRARY) or ".so." in name


def _apply(change: FileChange, base: Path, own: Path) -> None:
    target, shipped = own / change.path, base / change.path
    if ".." in Path(change.path).parts or any(parent.is_symlink() for parent in _parents(target, own)):
        return  # among the binaries
    if change.was is not None and shipped.is_file():
        _check(change, shipped)
    elif change.was is not None:
        return  # not installed by the package, such as a test or a file that only the build reads
    _forget_compiled(target)
    target.unlink(missing_ok=True)
    if change.content is None:
        _remove_empty(target.parent, own)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(change.content)


def _check(change: FileChange, shipped: Path) -> None:
    if blob_hash(shipped.read_bytes()) != change.was:
        raise NotLayable(f"{change.path} of the base is not as in the commit that it was built from")


def blob_hash(content: bytes) -> str:
    """The hash under which git keeps a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _parents(path: Path, until: Path) -> Iterator[Path]:
    for parent in path.parents:
        if parent == until:
            return
        yield parent


def _forget_compiled(file: Path) -> None:
    for compiled in (file.parent / _COMPILED).glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


def _remove_empty(folder: Path, until: Path) -> None:
    """A folder without files would still be imported, as a namespace package."""
    while folder != until and all(child.name == _COMPILED for child in folder.iterdir()):
        shutil.rmtree(folder)
        folder = folder.parent
