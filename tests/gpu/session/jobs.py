"""Running commands side by side, each with its own log and limit; nothing is left running."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.gpu.session.place import ROOT

GRACE = 30.0  # seconds that a job gets to write what it knows after it was interrupted


@dataclass(frozen=True, slots=True)
class Job:
    """A command with a name of its own. `good` are the exit statuses that are answers."""

    name: str
    words: Sequence[str]
    limit: float
    environ: Mapping[str, str] = field(default_factory=dict)
    good: frozenset[int] = frozenset({0})


@dataclass(frozen=True, slots=True)
class Done:
    """How a job ended: `status` is its exit status, negative for a signal; `seconds` how long it took."""

    name: str
    status: int
    seconds: float
    timed_out: bool
    is_good: bool


@dataclass(slots=True)
class _Running:
    job: Job
    process: subprocess.Popen[bytes]
    started: float
    stopped: float | None = None


def run_jobs(
    jobs: Sequence[Job],
    logs: Path,
    say: Callable[[str], None],
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
) -> list[Done]:
    """Run all of them at once, none beyond its limit or `deadline` (of `clock`); gives how they ended, in any order."""
    running = [_start(job, logs, clock()) for job in jobs]
    done = []
    try:
        while running:
            time.sleep(0.2)
            for one in list(running):
                if one.process.poll() is not None:
                    running.remove(one)
                    done.append(_ended(one, clock()))
                    say(_told(done[-1]))
                else:
                    _hurry(one, clock(), deadline)
    finally:
        for one in running:
            _signal(one, signal.SIGKILL)
            one.process.wait()
    return done


def _start(job: Job, logs: Path, now: float) -> _Running:
    with (logs / f"{job.name}.log").open("wb") as log:
        process = subprocess.Popen(
            list(job.words),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=ROOT,
            env={**os.environ, **job.environ},
            start_new_session=True,
        )
    return _Running(job, process, now)


def _hurry(one: _Running, now: float, deadline: float) -> None:
    """Ask a job that is too late to end, as Ctrl-C does; then end it."""
    if one.stopped is None and (now - one.started > one.job.limit or now > deadline):
        one.stopped = now
        with contextlib.suppress(ProcessLookupError):
            one.process.send_signal(signal.SIGTERM)
    elif one.stopped is not None and now - one.stopped > GRACE:
        _signal(one, signal.SIGKILL)


def _signal(one: _Running, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(one.process.pid, number)


def _ended(one: _Running, now: float) -> Done:
    status = one.process.returncode
    timed_out = one.stopped is not None
    return Done(one.job.name, status, round(now - one.started, 1), timed_out, status in one.job.good and not timed_out)


def _told(done: Done) -> str:
    word = "done" if done.is_good else "stopped at its limit" if done.timed_out else f"ended with {done.status}"
    return f"{done.name}: {word} after {done.seconds:.0f} s"
