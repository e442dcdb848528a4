"""Who this host is, and of what kind: what one host finds out about a build is not always true of another."""

from __future__ import annotations

import hashlib
import platform
import socket
from functools import cache


def host_name() -> str:
    """What people call this host."""
    return socket.gethostname() or "unknown"


@cache
def host_kind(driver: str | None) -> str:
    """A name for everything of a host, besides what is in every key, that decides whether a build works there.

    That is the C library and the driver of the GPU (`driver`, None on the CPU), and for an architecture its name. Hosts of one
    kind share what they find.
    """
    parts = (platform.machine(), *platform.libc_ver(), driver or "no driver")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
