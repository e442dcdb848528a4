"""What a trial may take of the machine before it is ended: memory, disk, processes, processor time, the size of a file.

The limits are there so that one repro cannot take the machine down, and with it every other question. They are no verdict: a
trial that was ended for them could not be judged. They are settings, handed down in the variables of a run
(`bisect_tool.runs.confining`), and read once a trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

import psutil

from bisect_tool.errors import SettingError
from bisect_tool.quantities import parse_size

MEMORY, DISK, PROCESSES = "BISECT_TRIAL_MEMORY", "BISECT_TRIAL_DISK", "BISECT_TRIAL_PROCESSES"
CPU, FILE_SIZE = "BISECT_TRIAL_CPU", "BISECT_TRIAL_FILE_SIZE"
SHARE = 0.9  # of the memory of the machine or of its container
USUAL_DISK = 64 * 10**9  # bytes; a torch environment has 5, what its compiler keeps less
USUAL_PROCESSES = 4096
_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


@dataclass(frozen=True, slots=True)
class Limits:
    """Of all processes of a trial together; 0: no limit.

    Bytes of memory, bytes in its own folder, processes at a time, seconds of processors, bytes of one file.
    """

    memory: int = 0
    disk: int = 0
    processes: int = 0
    cpu: int = 0
    file_size: int = 0

    def as_values(self) -> dict[str, int]:
        """As the supervisor takes them."""
        return asdict(self)


def read_limits(environ: Mapping[str, str], memory: int | None = None) -> Limits:
    """The limits that `environ` sets: `20GB`, `off`, a number. `memory` is that of the machine, in bytes.

    Raises `SettingError`.
    """
    whole = memory_here() if memory is None else memory
    return Limits(
        memory=_size(environ, MEMORY, int(SHARE * whole)),
        disk=_size(environ, DISK, USUAL_DISK),
        processes=_count(environ, PROCESSES, USUAL_PROCESSES, "processes"),
        cpu=_count(environ, CPU, 0, "seconds"),
        file_size=_size(environ, FILE_SIZE, 0),
    )


def memory_here() -> int:
    """Bytes of memory of this machine, or of the container that bisect runs in."""
    return min([psutil.virtual_memory().total, *_limits_of_groups(_GROUPS, _OWN_GROUPS)])


def _limits_of_groups(groups: Path, own: Path) -> Iterator[int]:
    """Of the control group of this process and of all above it, versions 2 and 1 (cgroups(7)); none where there is none."""
    with suppress(OSError):
        for line in own.read_text().splitlines():
            _, kinds, path = line.split(":", 2)
            if kinds not in {"", "memory"}:
                continue
            root, name = (groups / "memory", "memory.limit_in_bytes") if kinds else (groups, "memory.max")
            for above in (PurePosixPath(path), *PurePosixPath(path).parents):
                with suppress(OSError, ValueError):  # a container shows its own group as the root; `max` is no number
                    yield int((root / str(above).lstrip("/") / name).read_text())


def _size(environ: Mapping[str, str], name: str, usual: int) -> int:
    text = environ.get(name, "").strip()
    if text in {"", "off"}:
        return 0 if text else usual
    try:
        return parse_size(text)
    except ValueError as error:
        raise SettingError(f"{text!r} is no size: {error}", where=name, advice="write 20GB, or off") from error


def _count(environ: Mapping[str, str], name: str, usual: int, what: str) -> int:
    text = environ.get(name, "").strip()
    if text in {"", "off"}:
        return 0 if text else usual
    if not text.isdecimal():
        raise SettingError(f"{text!r} is no number", where=name, advice=f"write a number of {what}, or off")
    return int(text)
