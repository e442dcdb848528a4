"""What a trial says when this machine, and not the build, made it fail.

Looked for in the words of the exception, or in the last lines of a program that ended without one; never in the whole output,
where the same words may be part of what a script reports and survives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bisect_tool.trials.failure import CannotJudge, MachineAtFault


@dataclass(frozen=True, slots=True)
class Sign:
    """Words that show a fault, what to call it, and what the user can do."""

    words: re.Pattern[str]
    reason: str
    advice: str


def _sign(words: str, reason: str, advice: str) -> Sign:
    return Sign(re.compile(words), reason, advice)


_FREE_DISK = "free some space, or point --cache to a larger disk"
_CHECK_GPU = "see what nvidia-smi says; restart the driver or the machine, or run with device: cpu"

MACHINE: tuple[Sign, ...] = (
    _sign(r"No space left on device|\[Errno 28\]|\berrno 28\b", "no space is left on a disk", _FREE_DISK),
    _sign(r"Disk quota exceeded|\[Errno 122\]", "the disk quota is used up", _FREE_DISK),
    _sign(
        r"Too many open files|\[Errno 2[34]\]",
        "the limit of open files is reached",
        "raise it (ulimit -n 65536), or run fewer trials at a time",
    ),
    _sign(
        r"out of shared memory",
        "shared memory (/dev/shm) is used up",
        "give the container more of it (--shm-size=8g), or use num_workers=0 in the repro",
    ),
    _sign(
        r"terminated with signal SIGKILL|killed by signal: Killed|process was (?:killed|terminated abruptly)",
        "a child of the repro was killed from outside, most likely by the kernel for want of memory",
        "free memory, or run fewer trials at a time",
    ),
    _sign(
        r"no CUDA-capable device|No CUDA GPUs are available|CUDA_ERROR_NO_DEVICE|Found no NVIDIA driver",
        "the GPU is not available",
        _CHECK_GPU,
    ),
    _sign(r"CUDA driver initialization failed|CUDA unknown error", "the CUDA driver does not start", _CHECK_GPU),
    _sign(
        r"Unable to determine the device handle|[Gg][Pp][Uu] is lost|fallen off the bus|\bXid\b|CUDA_ERROR_DEVICE_UNAVAILABLE"
        r"|uncorrectable (?:NVLink|ECC) error|CUDA-capable device\(s\) is/are busy or unavailable",
        "the GPU is lost, broken or taken by another program",
        _CHECK_GPU,
    ),
)

# `out of resource` is a kernel that needs more shared memory than any GPU of its kind has: a failure of the build.
MEMORY = re.compile(
    r"^MemoryError\b|\bOutOfMemoryError\b(?!: out of resource)|out of memory"
    r"|DefaultCPUAllocator: (?:can't allocate memory|not enough memory)|std::bad_alloc|Cannot allocate memory|\[Errno 12\]"
    r"|Unable to allocate .{1,99} for an array|CUDNN_STATUS_ALLOC_FAILED",
    re.MULTILINE,
)
# Of the card, not of the host; and how much of it others must hold to be to blame: a tenth, or what they hold is a trifle.
GPU_MEMORY = re.compile(
    r"CUDA out of memory|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|CUDNN_STATUS_ALLOC_FAILED"
    r"|CUBLAS_STATUS_ALLOC_FAILED|cudaErrorMemoryAllocation"
)
CROWDED = 0.1
_TOO_OLD = re.compile(
    r"driver version is insufficient|NVIDIA driver on your system is too old|no kernel image is available"
)


def machine_at_fault(words: str) -> MachineAtFault | None:
    """The fault of this machine that `words` show, if any."""
    for sign in MACHINE:
        if found := sign.words.search(words):
            return MachineAtFault(f"{sign.reason} (“{_line_of(words, found)}”)", sign.advice)
    return None


def neighbours_at_fault(words: str, others: int | None, total: int | None) -> MachineAtFault | None:
    """The fault of those who held `others` bytes of a GPU's `total`, when `words` say that its memory did not suffice."""
    if not others or not total or others < CROWDED * total or not (found := GPU_MEMORY.search(words)):
        return None
    held = f"{others / 2**30:.1f} of {total / 2**30:.1f} GiB"
    return MachineAtFault(
        f"out of GPU memory while other processes held {held} (“{_line_of(words, found)}”)",
        "wait until the card is free (--wait-for-gpu), or give another one with CUDA_VISIBLE_DEVICES",
    )


def cannot_judge(words: str) -> CannotJudge | None:
    """Why `words` say that this build cannot be judged on this machine, if they do: memory, or a driver too old for it."""
    if found := MEMORY.search(words):
        return CannotJudge(f"out of memory: {_line_of(words, found)}")
    if found := _TOO_OLD.search(words):
        return CannotJudge(f"this build does not run on this GPU or driver: {_line_of(words, found)}")
    return None


def _line_of(words: str, found: re.Match[str]) -> str:
    start = words.rfind("\n", 0, found.start()) + 1
    end = words.find("\n", found.end())
    return words[start : end if end >= 0 else len(words)].strip()[:160]
