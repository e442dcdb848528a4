"""The cache folder: where everything lies, and whether it can be used."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.errors import CacheNotWritable, CacheTooNew, DiskFull

FORMAT = 1
MARK = "bisect-cache.json"
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class CacheFolder:
    """The places inside the cache. `open_cache` makes and checks it."""

    root: Path

    @property
    def uv(self) -> Path:
        """uv's own cache; on the same file system as the environments, so that these are made of hard links."""
        return self.root / "uv"

    @property
    def environments(self) -> Path:
        """One folder for each environment."""
        return self.root / "environments"

    @property
    def trials(self) -> Path:
        """One folder for each trial: its log, command and environment."""
        return self.root / "trials"

    @property
    def pages(self) -> Path:
        """Pages of package indexes, as HTTP allows them to be kept."""
        return self.root / "pages"

    @property
    def wheels(self) -> Path:
        """Wheels on their way: what is here of each, until uv has unpacked it."""
        return self.root / "wheels"

    @property
    def compiled(self) -> Path:
        """Compiled Python files by the hash of their source, one folder for each interpreter."""
        return self.root / "compiled"

    @property
    def repositories(self) -> Path:
        """Clones of repositories whose commits are built."""
        return self.root / "repositories"

    @property
    def locks(self) -> Path:
        """Lock files; they hold nothing."""
        return self.root / "locks"

    @property
    def database(self) -> Path:
        """The results."""
        return self.root / "results.sqlite"


def open_cache(root: Path) -> CacheFolder:
    """Make the folder where needed, and check that this version can read and write it.

    Raises `CacheNotWritable`, `CacheTooNew`, `DiskFull`.
    """
    # Absolute, because trials run in folders of their own.
    cache = CacheFolder(root.absolute())
    try:
        cache.root.mkdir(parents=True, exist_ok=True)
        _check_mark(cache.root / MARK)
        for folder in (cache.uv, cache.environments, cache.trials, cache.pages, cache.locks):
            folder.mkdir(exist_ok=True)
        _prove_writable(cache.root)
    except OSError as error:
        raise cannot_write(error, cache.root) from error
    return cache


def _check_mark(mark: Path) -> None:
    if not mark.exists():
        # Whole or not at all: another process may look at the same moment.
        part = mark.with_name(f"{MARK}.{os.getpid()}")
        part.write_text(json.dumps({"format": FORMAT, "made by": "bisect"}) + "\n")
        part.replace(mark)
        return
    try:
        found = int(json.loads(mark.read_text())["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise CacheNotWritable(
            f"{MARK} of the cache cannot be read, so it is not certain that the folder is a cache",
            where=str(mark),
            advice="name another folder with --cache, or delete this file if the folder really is a cache of bisect",
        ) from error
    if found > FORMAT:
        raise CacheTooNew(
            f"the cache has format {found}, this version knows formats up to {FORMAT}",
            where=str(mark.parent),
            advice="update bisect, or name another folder with --cache",
        )


def _prove_writable(root: Path) -> None:
    probe = root / f".write-probe-{os.getpid()}"
    probe.write_bytes(b"x")
    probe.unlink()


def copies_because(cache: CacheFolder, environ: Mapping[str, str]) -> str | None:
    """Why files of wheels would be copied into each environment instead of linked; None where they are linked.

    Raises `CacheNotWritable`, `DiskFull`.
    """
    costs = "each environment takes as much room and time as its wheels unpacked"
    if (mode := environ.get("UV_LINK_MODE", "")) == "copy":
        return f"UV_LINK_MODE is {mode}: {costs}"
    probe, link = (folder / f".link-probe-{os.getpid()}" for folder in (cache.uv, cache.environments))
    try:
        probe.write_bytes(b"x")
        os.link(probe, link)
    except OSError as error:
        if error.errno == errno.EXDEV:
            return f"{cache.uv} and {cache.environments} are on two file systems: {costs}"
        if error.errno in {errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK}:
            return f"the file system of {cache.root} has no hard links: {costs}"
        raise cannot_write(error, cache.root) from error
    finally:
        link.unlink(missing_ok=True)
        probe.unlink(missing_ok=True)
    return None


def cannot_write(error: OSError, root: Path) -> CacheNotWritable | DiskFull:
    """The error for something of the cache at `root` that cannot be written."""
    if error.errno in FULL:
        return disk_full(root)
    return CacheNotWritable(
        f"the cache cannot be written: {error.strerror or error}",
        where=str(error.filename or root),
        advice="name a folder of your own with --cache or BISECT_CACHE",
    )


def disk_full(root: Path) -> DiskFull:
    """The error for a full disk, worded for the cache at `root`."""
    return DiskFull(
        "no space is left on the disk of the cache",
        where=str(root),
        advice="make room with `bisect cache prune`, or name a folder on a larger disk with --cache; "
        "everything learned so far is kept, and the same command goes on from there",
    )
