"""The wheels of the cache that are on their way: begun, or here and not yet unpacked by uv."""

from __future__ import annotations

import json
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.environments import locks
from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.partial_file import FORMAT, Label, PartialFile, note_of, open_partial

ENDING = ".part"


@dataclass(frozen=True, slots=True)
class KeptWheel:
    """One of them: `here` of `size` bytes, in `file`."""

    file: Path
    label: Label
    here: int
    size: int

    @property
    def digest(self) -> str:
        """What tells its content from others."""
        return self.file.name.removesuffix(ENDING)


def file_for(cache: CacheFolder, digest: str) -> Path:
    """Where the bytes of a content lie."""
    return cache.wheels / f"{digest}{ENDING}"


def lock_for(cache: CacheFolder, digest: str) -> Path:
    """The lock of whoever fetches a content, or removes it."""
    return cache.locks / f"wheel-{digest}.lock"


def kept_wheels(cache: CacheFolder) -> list[KeptWheel]:
    """All of them, the one that was not touched for longest first."""
    files = sorted(cache.wheels.glob(f"*{ENDING}"), key=_touched)
    return [kept for file in files if (kept := _read(file)) is not None]


def _touched(file: Path) -> float:
    with suppress(OSError):
        return file.stat().st_mtime
    return 0.0


def _read(file: Path) -> KeptWheel | None:
    try:
        note = json.loads(note_of(file).read_text(encoding="utf-8"))
        if note["format"] != FORMAT:
            return None
        label = Label(note["package"], note["version"], note["filename"])
        opened = open_partial(file, label)
    except (OSError, ValueError, KeyError, TypeError):
        return KeptWheel(file, Label("?", "?", file.name), 0, 0) if file.exists() else None
    return KeptWheel(file, label, opened.pieces.count, int(note["size"]))


def remove_kept(cache: CacheFolder, kept: KeptWheel) -> bool:
    """Remove one unless it is being fetched; gives whether it went."""
    with locks.exclusive_or_none(lock_for(cache, kept.digest)) as held:
        if held:
            PartialFile(kept.file, kept.label).remove()
        return held


def damaged_wheels(cache: CacheFolder) -> list[KeptWheel]:
    """Those that are here in one piece and yet are no sound archives. One that is being fetched is not looked at."""
    found = []
    for kept in kept_wheels(cache):
        with locks.exclusive_or_none(lock_for(cache, kept.digest)) as held:
            if held and kept.here == kept.size and not is_sound(kept.file):
                found.append(kept)
    return found


def is_sound(file: Path) -> bool:
    """Whether a file is an archive whose members have the checksums that it gives."""
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return False
