"""What `docker build` would be given of the checkout: the files that `.dockerignore` leaves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path


def files(root: Path) -> tuple[Path, ...]:
    """Every file of `root` that the engine would get, relative to it and sorted."""
    patterns = read_patterns((root / ".dockerignore").read_text(encoding="utf-8"))
    return tuple(sorted(path for path in _all(root) if not ignored(path, patterns)))


def read_patterns(text: str) -> tuple[tuple[re.Pattern[str], bool], ...]:
    """Each line as a pattern, and whether it ignores; with `!` it takes back."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(
        (_compiled(line.removeprefix("!")), not line.startswith("!")) for line in lines if line and line[0] != "#"
    )


def ignored(path: Path, patterns: tuple[tuple[re.Pattern[str], bool], ...]) -> bool:
    """Whether the last line that fits the path, or a folder that it lies in, ignores it."""
    places = [str(place) for place in (path, *path.parents) if place != Path()]
    said = False
    for pattern, ignores in patterns:
        if any(pattern.fullmatch(place) for place in places):
            said = ignores
    return said


def _compiled(pattern: str) -> re.Pattern[str]:
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/"))
    return re.compile("".join(words.get(part) or re.escape(part) for part in parts))


def _all(root: Path) -> Iterator[Path]:
    """Every file, but for folders that no line has to name, because looking into them takes long."""
    for folder, folders, names in os.walk(root):
        if Path(folder) == root:
            folders[:] = [name for name in folders if name not in {".git", ".venv", "cache"}]
        yield from (Path(folder, name).relative_to(root) for name in names)
