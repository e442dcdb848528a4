"""Running one process so that nothing of it is left behind: its own session, a time limit, and a hunt for what escaped.

A repro may fork, daemonise, ignore signals, print without end or close its output. The rules: the process that was started
decides the exit status; reading its output ends when it ends; afterwards everything is killed that belongs to its process
group, descends from it, or carries the mark of the trial in its environment (which daemons inherit).
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bisect_tool.trials.capture import Capture

MARK = "BISECT_TRIAL"
DUMP_TIME = 3.0  # seconds that a process gets to print its stack before it is killed
BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. `signal` is the number of the signal that ended it; `peak_memory` in bytes."""

    exit_status: int | None
    signal: int | None
    timed_out: bool
    duration: float
    output: str
    output_bytes: int
    peak_memory: int | None
    left_running: int
    pid: int


def run_process(
    command: Sequence[str], *, environ: Mapping[str, str], folder: Path, timeout: float, mark: str
) -> Ended:
    """Run `command` in `folder` for at most `timeout` seconds.

    `mark` is a word that no other process on this machine carries. Raises `OSError` when it cannot be started.
    """
    started = time.monotonic()
    read_end, write_end = os.pipe()
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=write_end,
            stderr=write_end,
            env={**environ, MARK: mark},
            cwd=folder,
            start_new_session=True,
        )
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    capture = Capture()
    timed_out, status, usage = False, None, None
    try:
        os.set_blocking(read_end, False)
        status, usage = _follow(process.pid, read_end, capture, started + timeout)
        if status is None:
            timed_out = True
            status, usage = _end_with_stack(process.pid, read_end, capture)
        duration = time.monotonic() - started
        left = _sweep(process.pid, mark)
        _drain(read_end, capture)
    finally:
        os.close(read_end)
        # Also on Ctrl-C: nothing of a trial outlives it.
        if status is None:
            # Before the sweep, which would take the wait status away.
            os.kill(process.pid, signal.SIGKILL)
            _, status = os.waitpid(process.pid, 0)
        _sweep(process.pid, mark)
        process.returncode = os.waitstatus_to_exitcode(status)
    code = process.returncode
    return Ended(
        exit_status=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=timed_out,
        duration=duration,
        output=capture.text(),
        output_bytes=capture.total,
        peak_memory=usage.ru_maxrss * 1024 if usage is not None else None,
        left_running=left,
        pid=process.pid,
    )


def _follow(pid: int, pipe: int, capture: Capture, deadline: float) -> tuple[int | None, resource.struct_rusage | None]:
    """Read until the process has ended or the deadline has come; gives its wait status, or None."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        open_ = True
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                return status, usage
            left = deadline - time.monotonic()
            if left <= 0:
                return None, None
            # Short waits: the pipe may stay silent, or open in a grandchild, after the process itself has ended.
            if not open_:
                time.sleep(min(0.02, left))
            elif selector.select(min(0.05, left)):
                open_ = _read(pipe, capture)


def _read(pipe: int, capture: Capture) -> bool:
    """Read one block; False once the other end is closed."""
    try:
        block = os.read(pipe, BLOCK)
    except BlockingIOError:
        return True
    capture.feed(block)
    return bool(block)


def _drain(pipe: int, capture: Capture) -> None:
    """Read what is still in the pipe, which is at most its capacity: every writer is gone."""
    with contextlib.suppress(BlockingIOError):
        while block := os.read(pipe, BLOCK):
            capture.feed(block)


def _end_with_stack(pid: int, pipe: int, capture: Capture) -> tuple[int, resource.struct_rusage | None]:
    """End a process that took too long, after faulthandler has printed where it was."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGABRT)
    status, usage = _follow(pid, pipe, capture, time.monotonic() + DUMP_TIME)
    if status is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
    return status, usage


def _sweep(pid: int, mark: str) -> int:
    """Kill everything that the process left behind; gives how many there were."""
    killed: set[int] = set()
    # Twice at least: what is just being forked while we look is found the next time.
    for _ in range(20):
        found = _belonging(pid, mark)
        if not found:
            break
        for process in found:
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                process.kill()
                killed.add(process.pid)
        psutil.wait_procs(found, timeout=0.5)
    return len(killed - {pid})


def _belonging(pid: int, mark: str) -> list[psutil.Process]:
    mine = os.getpid()
    return [process for process in psutil.process_iter() if process.pid != mine and _is_marked(process, pid, mark)]


def _is_marked(process: psutil.Process, pid: int, mark: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return os.getsid(process.pid) == pid or process.environ().get(MARK) == mark
    except (psutil.Error, OSError):
        return False
