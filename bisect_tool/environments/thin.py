"""The Python part of one wheel over the binaries of another one, proven file by file (`docs/speed.md`, "Thin builds").

Only files that are not the same already are fetched. What the older Python lacks goes, unless the binaries name it.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from bisect_tool.builds.python_files import NotReadable, PythonFiles
from bisect_tool.environments.layering import NotLayable, forget_compiled, lay_over
from bisect_tool.environments.left_over import remove_left_over

MARKER = "bisect-thin.json"


def lay_thin(base: Path, own: Path, folders: tuple[str, ...], python: Callable[[], PythonFiles], marked: Path) -> None:
    """Fill the site-packages folder `own` with what `base` has, but for the Python files, which are those of `python`.

    The folder `marked` gets a file that says what was laid over what. Raises `NotLayable`, `IndexUnreachable`, `OSError`.
    """
    lay_over(base, own, folders, ())
    try:
        files = python()
        differing = _differing(own, files.checksums)
        for name, content in files.read(differing).items():
            _put(own, name, content)
        revision = files.revision
    except NotReadable as error:
        raise NotLayable(f"its Python part cannot be read: {error}") from error
    remove_left_over(own, base, folders, files.checksums)
    if wrong := _differing(own, files.checksums):
        raise NotLayable(f"{wrong[0]} is not as in the wheel ({len(wrong)} files are not)")
    told = {
        "python_of": {"version": files.version, "git_version": revision},
        "files": len(files.checksums),
        "replaced": len(differing),
        "checksums": dict(sorted(files.checksums.items())),
    }
    (marked / MARKER).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def wrong_files(site: Path, marked: Path) -> list[str]:
    """The files of a layered tree that are not what its marker says. Raises `OSError`, `ValueError` without a marker."""
    told = json.loads((marked / MARKER).read_text(encoding="utf-8"))
    return _differing(site, {name: int(crc) for name, crc in told["checksums"].items()})


def _differing(site: Path, checksums: Mapping[str, int]) -> list[str]:
    """The files that are not here with this content; a link is nobody's own file."""
    return [name for name, crc in checksums.items() if not _is_as(site / name, crc)]


def _is_as(file: Path, crc: int) -> bool:
    try:
        return not file.is_symlink() and zlib.crc32(file.read_bytes()) == crc
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False


def _put(own: Path, name: str, content: bytes) -> None:
    """A file of its own: nothing is written through a link, and what was compiled of the one before goes."""
    target = own / name
    for parent in target.relative_to(own).parents:
        if (own / parent).is_symlink():
            raise NotLayable(f"{name} would lie behind a link")
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    if target.parent.is_file():
        target.parent.unlink()
    target.parent.mkdir(parents=True, exist_ok=True)
    forget_compiled(target)
    target.unlink(missing_ok=True)
    target.write_bytes(content)
