"""Locks between processes: shared for those who use an environment, exclusive for the one that makes or removes it.

They are ``flock`` locks, so that the kernel releases them when their process dies, by whatever cause. (filelock, which the
design names, has no shared lock of that kind.)
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bisect_tool.environments.cache_folder import cannot_write
from bisect_tool.stopping import Stop

PATIENCE = 0.1  # seconds between two attempts


@contextmanager
def shared(path: Path, waiting: Callable[[], None] | None = None, stop: Stop | None = None) -> Iterator[None]:
    """Hold a shared lock on `path`; `waiting` is called once if it is not free at once, and `stop` ends the wait.

    Raises `CacheNotWritable` or `DiskFull` when the file cannot be opened, `Cancelled` when the wait was stopped.
    """
    with _held(path, fcntl.LOCK_SH, waiting, stop):
        yield


@contextmanager
def exclusive(path: Path, waiting: Callable[[], None] | None = None, stop: Stop | None = None) -> Iterator[None]:
    """Hold the exclusive lock on `path`; `waiting` is called once if it is not free at once, and `stop` ends the wait.

    Raises `CacheNotWritable` or `DiskFull` when the file cannot be opened, `Cancelled` when the wait was stopped.
    """
    with _held(path, fcntl.LOCK_EX, waiting, stop):
        yield


@contextmanager
def exclusive_or_none(path: Path) -> Iterator[bool]:
    """Try for the exclusive lock without waiting; gives whether it is held."""
    descriptor = _open(path)
    try:
        yield _attempt(descriptor, fcntl.LOCK_EX)
    finally:
        _release(descriptor)


@contextmanager
def _held(path: Path, kind: int, waiting: Callable[[], None] | None, stop: Stop | None) -> Iterator[None]:
    descriptor = _open(path)
    try:
        if not _attempt(descriptor, kind):
            if waiting is not None:
                waiting()
            # Polling instead of a blocking call, so that Ctrl-C ends the wait at once.
            while not _attempt(descriptor, kind):
                (stop.sleep if stop else time.sleep)(PATIENCE)
        yield
    finally:
        _release(descriptor)


def _release(descriptor: int) -> None:
    # Unlocked, not only closed: a child that another thread is just starting holds a copy of it for a moment.
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def _open(path: Path) -> int:
    # Never unlinked: a lock file that is removed while another process waits for it would be two locks. Inherited by no
    # child, so that a stray grandchild of a trial cannot keep an environment busy.
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise cannot_write(error, path.parent) from error


def _attempt(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
