"""What the system allows: processors, memory, open files, shared memory."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

from bisect_tool.quantities import format_size
from bisect_tool.reports.checkup import Finding, Level
from bisect_tool.runs.doctor.place import Place

ORDER = 90
GB = 10**9
_FILES, _MEMORY, _SHARED = 1024, 4 * GB, 64 * 2**20
_SHM = Path("/dev/shm")  # noqa: S108  looked at, nothing is put there
_CGROUP = Path("/sys/fs/cgroup/memory.max")


def check(place: Place) -> Iterator[Finding]:
    """One line for what there is, and one for each limit that is too low."""
    import psutil

    memory = psutil.virtual_memory()
    available = min(memory.available, _cgroup_limit() or memory.available)
    cores = len(os.sched_getaffinity(0))
    says = f"{cores} cores, {format_size(available)} of {format_size(memory.total)} memory available"
    level: Level = "warning" if available < _MEMORY else "ok"
    fix = "end other programs: importing torch and compiling take about 2 GB"
    facts = {"cores": cores, "memory_available": available, "memory_total": memory.total}
    yield Finding(about="limits", level=level, says=says, fix=fix, facts=facts)
    yield from _resources()
    yield from _shared(place)


def _cgroup_limit() -> int | None:
    try:
        text = _CGROUP.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _resources() -> Iterator[Finding]:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < _FILES:
        says = f"only {files} files may be open at once"
        yield Finding(about="limits", level="warning", says=says, fix=f"`ulimit -n {_FILES}` or more")
    for name, kind in (
        ("memory", resource.RLIMIT_AS),
        ("time", resource.RLIMIT_CPU),
        ("file size", resource.RLIMIT_FSIZE),
    ):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            says = f"the {name} of a process is limited to {soft}"
            fix = "lift it (`ulimit -a` shows all): CUDA alone reserves many GB of addresses, and a limit looks like a failure"
            yield Finding(about="limits", level="warning", says=says, fix=fix)


def _shared(place: Place) -> Iterator[Finding]:
    if not _SHM.is_dir():
        return
    total, _ = place.room(_SHM)
    if total <= _SHARED:
        says = f"{_SHM} has {format_size(total)}: repros with worker processes or NCCL may fail for want of it"
        yield Finding(
            about="limits", level="warning", says=says, fix="start the container with `--shm-size 2g` or `--ipc=host`"
        )
