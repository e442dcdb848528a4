"""A private copy of an environment, for people: what they edit or install there never reaches the one that trials use.

The files of an environment are hard links into uv's cache, so a change in place would be one of every environment of that
wheel, now and later. Python files, headers and everything else that people edit are copied; large libraries and other
large files, which are most of the bytes, are linked by name. They can be replaced, only not edited in place: `changed` tells.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

LARGE = 1_000_000  # bytes: from here on only what is text is copied
TEXT = frozenset({".py", ".pyi", ".pyc", ".h", ".hpp", ".cuh", ".txt", ".json"})


def copy_site(base: Path, own: Path) -> None:
    """Fill the site-packages folder `own` with what `base` has. Files keep their time of change. Raises `OSError`."""
    for entry in os.scandir(base):
        target = own / entry.name
        if entry.is_dir():
            target.mkdir(exist_ok=True)
            copy_site(Path(entry.path), target)
        elif target.exists():
            continue  # of the new environment itself
        elif _is_linked(entry):
            target.symlink_to(entry.path)
        else:
            shutil.copy2(entry.path, target)


def _is_linked(entry: os.DirEntry[str]) -> bool:
    is_text = Path(entry.name).suffix in TEXT
    return not is_text and entry.stat().st_size >= LARGE


def copy_programs(base: Path, own: Path) -> None:
    """Copy the scripts of the folder `base` that the folder `own` lacks; they start the Python of `own`."""
    first = b"#!" + os.fsencode(base / "python")
    for path in sorted(base.iterdir()):
        target = own / path.name
        if target.exists() or not path.is_file() or path.is_symlink():
            continue
        content = path.read_bytes()
        target.write_bytes(content.replace(first, b"#!" + os.fsencode(own / "python"), 1))
        target.chmod(path.stat().st_mode)


def links(own: Path) -> dict[Path, tuple[int, int]]:
    """The files outside that are linked from a folder, each with its size and time of change (ns)."""
    return {target: _stamp(target) for target in _targets(own)}


def changed(before: Mapping[Path, tuple[int, int]]) -> list[Path]:
    """Those that were written to since."""
    return [path for path, stamp in before.items() if _stamp(path) != stamp]


def _targets(own: Path) -> Iterator[Path]:
    for folder, _, files in os.walk(own):
        yield from (path.readlink() for name in files if (path := Path(folder, name)).is_symlink())


def _stamp(path: Path) -> tuple[int, int]:
    try:
        seen = path.stat()
    except OSError:
        return (-1, -1)
    return seen.st_size, seen.st_mtime_ns
