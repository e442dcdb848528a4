"""A bound on bytes a second for everything that is fetched through one cache, by any number of threads and processes.

The moment until which the wire is spoken for stands in a small file: whoever takes bytes moves it on, and waits for the old
one.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_FORMAT = struct.Struct("<d36s")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Throttle:
    """`rate` is in bytes a second, `file` where the turns are kept.

    The clock must be the same in all processes and start with the machine: turns of an earlier start do not count.
    """

    rate: int
    file: Path
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def take(self, count: int, wait: Callable[[float], object] = time.sleep) -> None:
        """Wait until it is the turn of `count` more bytes. Raises `OSError`."""
        seconds = self._turn(count) - self.clock()
        if seconds > 0:
            wait(seconds)

    def _turn(self, count: int) -> float:
        """The moment at which these bytes may be taken; the wire is theirs from then on."""
        descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            kept = os.pread(descriptor, _FORMAT.size, 0)
            until, boot = _FORMAT.unpack(kept) if len(kept) == _FORMAT.size else (0.0, b"")
            begin = max(self.clock(), until if boot == _boot() else 0.0)
            os.pwrite(descriptor, _FORMAT.pack(begin + count / self.rate, _boot()), 0)
            return float(begin)
        finally:
            os.close(descriptor)


def _boot() -> bytes:
    """What tells this start of the machine from others; nothing where the system does not say."""
    try:
        return _BOOT.read_bytes().strip()[:36].ljust(36)
    except OSError:
        return b" " * 36
