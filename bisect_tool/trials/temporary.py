"""Temporary folders outside of a cache, which go with whoever made them, by whatever end.

Such a folder is held by a ``flock`` lock, which the kernel releases when its process dies. Whoever makes the next one removes
those that nobody holds any more; after SIGKILL nobody else can. The place may be shared with other hosts, whose locks are not
seen here: each folder has in its name of which host and start it is, and others leave it alone.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.trials.leftovers import remove_folder

PREFIX = "bisect-trial-"
BOOT = Path("/proc/sys/kernel/random/boot_id")
SETTLED = 60.0  # seconds: a younger folder may have been made and not be held yet


@dataclass(frozen=True, slots=True)
class Held:
    """A folder that is held, and the open file that holds it."""

    path: Path
    holding: int

    def remove(self) -> None:
        """Remove the folder, which a trial could write, and hold it no more; once."""
        remove_folder(self.path)
        os.close(self.holding)


def hold_folder() -> Held:
    """A new folder with a short name. Raises `OSError` when there can be none."""
    _remove_abandoned()
    made = tempfile.mkdtemp(prefix=own_prefix())
    holding = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(OSError):  # a file system without locks: the folder is nobody's to remove
        fcntl.flock(holding, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return Held(Path(made), holding)


@contextmanager
def held_folder() -> Iterator[Path]:
    """A new folder with a short name, removed at the end. Raises `OSError` when there can be none."""
    held = hold_folder()
    try:
        yield held.path
    finally:
        held.remove()


def own_prefix() -> str:
    """How the names of the folders of this host begin, until it is started anew."""
    words = f"{socket.gethostname()} {BOOT.read_text() if BOOT.exists() else ''}"
    return f"{PREFIX}{hashlib.sha256(words.encode()).hexdigest()[:6]}-"


def _remove_abandoned() -> None:
    now, prefix = time.time(), own_prefix()
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as found:
        for entry in found:
            if entry.name.startswith(prefix):
                _remove_if_abandoned(entry, now)


def _remove_if_abandoned(entry: os.DirEntry[str], now: float) -> None:
    """Not what another user has made, what is no folder, or what somebody holds. What cannot be removed stays."""
    with suppress(OSError):
        facts = entry.stat(follow_symlinks=False)
        if facts.st_uid != os.getuid() or now - facts.st_mtime < SETTLED:
            return
        folder = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(folder).st_ino != facts.st_ino:
                return
            remove_folder(Path(entry.path))
        finally:
            os.close(folder)
