"""What a trial left behind: plain facts, before anybody says what they mean."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Raised:
    """One exception of a chain; `relation` says how it was reached from the one before (see `exception_hook`).

    `type` is qualified where the source knows it (`torch._inductor.exc.InductorError`). `frames` are (file, function),
    outermost first.
    """

    type: str
    message: str
    relation: str = "raised"
    frames: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the checks file: a result (`ok`) or a number (`value`)."""

    name: str
    ok: bool | None = None
    message: str = ""
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """One finished trial.

    `exit_status` is None when a signal (`signal`, its number) ended the process. `timed_out` says that the tool ended it
    after its `timeout` (seconds). `output` is standard output and error as printed, head and tail when it was too long.
    `chain` is the uncaught exception as the hook wrote it, empty when there was none. `malformed` is the first line of
    the checks file that could not be read. `peak_memory` is in bytes, `duration` in seconds. `gpu_others` are the bytes that
    other processes held of the GPU's `gpu_total` while it ran, as far as that was looked at. `warm`: it was forked from a
    process that had imported the heavy modules, instead of being started fresh. `machine` is where it ran, where that is not
    the machine of the tool. `over`: which of its limits it went over, so that it was killed.
    """

    exit_status: int | None
    signal: int | None = None
    timed_out: bool = False
    timeout: float = 0.0
    duration: float = 0.0
    output: str = ""
    output_bytes: int = 0
    chain: tuple[Raised, ...] = ()
    checks: tuple[Check, ...] = ()
    malformed: str | None = None
    peak_memory: int | None = None
    memory_total: int | None = None
    left_running: int = 0
    gpu_others: int | None = None
    gpu_total: int | None = None
    warm: bool = False
    machine: str = ""
    over: str = ""
