"""What a trial may take of the machine before it is ended: memory, disk, processes.

The limits are there so that one repro cannot take the machine down, and with it every other question. They are no verdict: a
trial that was ended for them could not be judged. They are set by environment variables of bisect itself, read once a trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from bisect_tool.errors import SettingError
from bisect_tool.quantities import parse_size

MEMORY, DISK, PROCESSES = "BISECT_TRIAL_MEMORY", "BISECT_TRIAL_DISK", "BISECT_TRIAL_PROCESSES"
SHARE = 0.9  # of the memory of the machine or of its container
USUAL_DISK = 64 * 10**9  # bytes; a torch environment has 5, what its compiler keeps less
USUAL_PROCESSES = 4096
_CONTAINER = Path("/sys/fs/cgroup/memory.max")  # of control groups, version 2


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of memory of all processes of a trial together, bytes in its own folder, processes at a time; 0: no limit."""

    memory: int = 0
    disk: int = 0
    processes: int = 0

    def as_values(self) -> dict[str, int]:
        """As the supervisor takes them."""
        return asdict(self)


def read_limits(environ: Mapping[str, str], memory: int | None = None) -> Limits:
    """The limits that `environ` sets: `20GB`, `off`, a number of processes. `memory` is that of the machine, in bytes.

    Raises `SettingError`.
    """
    whole = memory_here() if memory is None else memory
    return Limits(
        memory=_size(environ, MEMORY, int(SHARE * whole)),
        disk=_size(environ, DISK, USUAL_DISK),
        processes=_count(environ, PROCESSES, USUAL_PROCESSES),
    )


def memory_here() -> int:
    """Bytes of memory of this machine, or of the container that bisect runs in."""
    total = psutil.virtual_memory().total
    try:
        return min(total, int(_CONTAINER.read_text()))
    except (OSError, ValueError):
        return total  # no container, or one without a limit


def _size(environ: Mapping[str, str], name: str, usual: int) -> int:
    text = environ.get(name, "").strip()
    if text in {"", "off"}:
        return 0 if text else usual
    try:
        return parse_size(text)
    except ValueError as error:
        raise SettingError(f"{text!r} is no size: {error}", where=name, advice="write 20GB, or off") from error


def _count(environ: Mapping[str, str], name: str, usual: int) -> int:
    text = environ.get(name, "").strip()
    if text in {"", "off"}:
        return 0 if text else usual
    if not text.isdecimal():
        raise SettingError(f"{text!r} is no number", where=name, advice="write a number of processes, or off")
    return int(text)
