"""A folder for each question that is being answered, removed when it is, or by the next worker when its own was killed."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.locks import exclusive, exclusive_or_none

FOLDER = "questions"
_LOCK = "lock"


@contextmanager
def private_folder(cache: CacheFolder) -> Iterator[Path]:
    """An empty folder that nobody else uses, while the context lasts.

    Raises `CacheNotWritable`, `DiskFull`.
    """
    place = cache.root / FOLDER / uuid.uuid4().hex
    with exclusive(place / _LOCK):
        if not (place / _LOCK).exists():  # between the making and the locking another worker took it for abandoned
            with private_folder(cache) as another:
                yield another
            return
        own = place / "question"
        own.mkdir(mode=0o700, parents=True)
        try:
            yield own
        finally:
            shutil.rmtree(place, ignore_errors=True)


def remove_abandoned(cache: CacheFolder) -> None:
    """Remove the folders whose workers are gone. Only what this module has made, which has its lock, is looked at."""
    for lock in (cache.root / FOLDER).glob(f"*/{_LOCK}"):
        with exclusive_or_none(lock) as is_ours:
            if is_ours:
                shutil.rmtree(lock.parent, ignore_errors=True)
