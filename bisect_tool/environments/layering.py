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
from bisect_tool.builds.package_parts import is_of_binaries

NOT_VALID = "overlay not valid here: "  # how the reason of a layer that does not fit its base begins
_LIBRARIES = "lib"
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
            copy_package(entry, target)
        elif entry.name != _COMPILED and not target.exists():
            target.symlink_to(entry)
    for change in changes:
        _apply(change, base, own)


def copy_package(source: Path, target: Path) -> None:
    """A package as a folder of its own: its Python files are copied, its binaries linked.

    Files keep their time of change, which compiled files are checked against. Raises `OSError`.
    """
    _copy(source, target, source.parent)


def _copy(source: Path, target: Path, site: Path) -> None:
    target.mkdir()
    for entry in source.iterdir():
        to, parts = target / entry.name, entry.relative_to(site).parts
        if parts == ("torch", _LIBRARIES):
            _link_all(entry, to)
        elif is_of_binaries(parts):
            to.symlink_to(entry)
        elif entry.is_dir():
            _copy(entry, to, site)
        else:
            shutil.copy2(entry, to)


def _link_all(source: Path, target: Path) -> None:
    """A real folder of links: what a library looks for beside its own folder is looked for here, not in the base."""
    target.mkdir()
    for entry in source.iterdir():
        (target / entry.name).symlink_to(entry)


def _apply(change: FileChange, base: Path, own: Path) -> None:
    target, shipped = own / change.path, base / change.path
    parts = Path(change.path).parts
    if ".." in parts or parts[1:2] == (_LIBRARIES,) or any(parent.is_symlink() for parent in _parents(target, own)):
        return  # among the binaries
    if change.was is not None and shipped.is_file():
        _check(change, shipped)
    elif change.was is not None:
        return  # not installed by the package, such as a test or a file that only the build reads
    forget_compiled(target)
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


def forget_compiled(file: Path) -> None:
    """Remove what was compiled of a file: its time and size alone would not tell that it is another one."""
    for compiled in (file.parent / _COMPILED).glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


def _remove_empty(folder: Path, until: Path) -> None:
    """A folder without files would still be imported, as a namespace package."""
    while folder != until and all(child.name == _COMPILED for child in folder.iterdir()):
        shutil.rmtree(folder)
        folder = folder.parent
