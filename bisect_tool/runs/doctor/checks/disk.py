"""Room for the cache, and whether environments can be made of links."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.room import occupants
from bisect_tool.quantities import format_size
from bisect_tool.reports.checkup import Finding, Level
from bisect_tool.runs.doctor.place import Place

ORDER = 60
GB = 10**9
_LITTLE, _TOO_LITTLE = 20 * GB, 6 * GB  # several builds of torch with CUDA; one
_FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file


def check(place: Place) -> Iterator[Finding]:
    """What is free, what the cache holds, and what its file system can do."""
    root = place.cache_root
    total, free = place.room(root)
    made = occupants(CacheFolder(place.settings.cache)) if (place.settings.cache / "environments").is_dir() else []
    held = sum(one.bytes_ for one in made)
    facts = {"cache": str(place.settings.cache), "free": free, "total": total, "environments": len(made), "held": held}
    says = f"{format_size(free)} of {format_size(total)} free for the cache at {place.settings.cache}"
    says += f", which has {len(made)} environments of {format_size(held)}" if made else ""
    fix = "make room (`bisect cache prune`), or name a folder on a larger disk with --cache; torch with CUDA takes 5 GB"
    level: Level = "problem" if free < _TOO_LITTLE else "warning" if free < _LITTLE else "ok"
    yield Finding(about="disk", level=level, says=says, fix=fix, facts=facts)
    yield _links(root)


def _links(root: Path) -> Finding:
    try:
        with tempfile.TemporaryDirectory(dir=root, prefix=".bisect-doctor-") as name:
            folder = Path(name)
            (folder / "file").write_bytes(b"x" * 4096)
            hard, cloned = _can_link(folder), _can_clone(folder)
    except OSError as error:
        says = f"{root} cannot be written: {error.strerror}"
        return Finding(about="disk", level="problem", says=says, fix="name a folder of your own with --cache")
    facts = {"hard_links": hard, "reflinks": cloned}
    if cloned or hard:
        says = f"environments share their files with uv's cache by {'reflinks' if cloned else 'hard links'}"
        return Finding(about="disk", level="ok", says=says, facts=facts)
    says = "the file system of the cache has neither hard links nor reflinks: every environment is a copy"
    fix = "name a folder on another file system with --cache: copies of torch take 6 to 12 s and 1 to 3 GB each"
    return Finding(about="disk", level="warning", says=says, fix=fix, facts=facts)


def _can_link(folder: Path) -> bool:
    try:
        (folder / "link").hardlink_to(folder / "file")
    except OSError:
        return False
    return True


def _can_clone(folder: Path) -> bool:
    import fcntl

    try:
        with (folder / "file").open("rb") as source, (folder / "clone").open("wb") as target:
            fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
    except OSError:
        return False
    return (folder / "clone").stat().st_size > 0
