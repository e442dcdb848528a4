"""Making room in the cache: the environments that were not used for longest go first, and only what carries our mark.

The files of an environment are hard links into uv's cache, so that removing one frees nothing until uv forgets the wheels
too. uv forgets by package name, not by version: after the removals it is told to forget every package of which no version is
left in an environment in the same version, and living environments keep their own links.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bisect_tool.builds.build import Build
from bisect_tool.environments import locks
from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.kept_wheels import kept_wheels, remove_kept
from bisect_tool.environments.marks import MARK, USED, remove
from bisect_tool.environments.uv import Uv
from bisect_tool.errors import DiskFull

FULL = (errno.ENOSPC, errno.EDQUOT)
UNPACKED = 3  # a wheel of a large package is about a third of what it becomes, with what it brings along


@dataclass(frozen=True, slots=True)
class Occupant:
    """One environment in the cache. `bytes_` counts its own files, also those shared with uv's cache."""

    folder: Path
    package: str
    version: str
    state: str
    bytes_: int
    used: datetime
    packages: tuple[tuple[str, str], ...]


def occupants(cache: CacheFolder) -> list[Occupant]:
    """Every environment, the one that was not used for longest first."""
    # A link is not ours, whatever it points to.
    marked = [path for path in sorted(cache.environments.iterdir()) if not path.is_symlink() and (path / MARK).exists()]
    found = [_occupant(folder) for folder in marked]
    return sorted((one for one in found if one is not None), key=lambda one: one.used)


def _occupant(folder: Path) -> Occupant | None:
    # A mark can be cut off by a crash, or be that of another version of the tool.
    with contextlib.suppress(OSError, ValueError, AttributeError, KeyError, TypeError):
        mark = json.loads((folder / MARK).read_text())
        key = mark.get("key", {})
        stamp = (folder / USED) if (folder / USED).exists() else folder / MARK
        healths = mark.get("health", {}).values()
        packages = {name: version for health in healths for name, version in health["packages"].items()}
        return Occupant(
            folder=folder,
            package=key.get("package", "?"),
            version=key.get("version", "?"),
            state=mark.get("state", "?"),
            bytes_=mark.get("bytes", 0),
            used=datetime.fromtimestamp(stamp.stat().st_mtime, UTC),
            packages=tuple(sorted(packages.items())),
        )
    return None


def size_of(folder: Path) -> int:
    """Bytes on disk under `folder`; a file with several names counts once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for entry in _files(folder):
        with contextlib.suppress(OSError):
            facts = entry.stat(follow_symlinks=False)
            if (facts.st_dev, facts.st_ino) not in seen:
                seen.add((facts.st_dev, facts.st_ino))
                total += facts.st_blocks * 512
    return total


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
            else:
                yield entry


def likely_size(build: Build) -> int:
    """A guess at what a new environment needs, in bytes."""
    return (build.size or 0) * UNPACKED


def make_room(cache: CacheFolder, uv: Uv, limit: int, *, needed: int = 0) -> list[Occupant]:
    """Remove environments until the cache with `needed` more bytes stays within `limit`; gives those that went.

    Wheels that were only begun go first. Environments in use are skipped. Raises `DiskFull` when the limit cannot be kept.
    """
    gone: list[Occupant] = []
    size = size_of(cache.root)
    if size + needed > limit:
        uv.call("cache", "prune")
        size = size_of(cache.root)
    for kept in kept_wheels(cache):
        if size + needed <= limit:
            break
        if remove_kept(cache, kept):
            size = size_of(cache.root)
    for occupant in occupants(cache):
        if size + needed <= limit:
            break
        if remove_unused(cache, occupant):
            gone.append(occupant)
            forget_wheels(cache, uv, [occupant])
            size = size_of(cache.root)
    if size + needed > limit:
        shutil.rmtree(cache.compiled, ignore_errors=True)
        uv.call("cache", "clean")
        size = size_of(cache.root)
    if size + needed > limit:
        raise DiskFull(
            f"the cache needs {size + needed} bytes and may have {limit}, and everything left in it is in use",
            where=str(cache.root),
            advice="give it more with --max-cache, or wait for the other runs",
        )
    return gone


def remove_unused(cache: CacheFolder, occupant: Occupant) -> bool:
    """Remove one environment unless a process uses it; gives whether it went."""
    with locks.exclusive_or_none(cache.locks / f"{occupant.folder.name}.lock") as held:
        if held:
            remove(occupant.folder)
        return held


def forget_wheels(cache: CacheFolder, uv: Uv, gone: list[Occupant]) -> None:
    """Make uv forget the packages of removed environments that no other environment has in the same version."""
    kept = {pair for occupant in occupants(cache) for pair in occupant.packages}
    names = sorted({name for occupant in gone for name, version in occupant.packages if (name, version) not in kept})
    if names:
        uv.call("cache", "clean", *names)
