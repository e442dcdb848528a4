"""Running one process so that nothing of it is left behind, whatever it does and whatever happens to this tool.

A repro may fork, daemonise, ignore signals, print without end or close its output. The rules: the process that was started
decides the exit status; reading its output ends when it ends; afterwards everything that descends from it is killed. A
small program in between does the killing, also when this process is killed itself: see `bisect_tool.trials.supervisor`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bisect_tool.environments.sandbox import Sandbox, View, own_interpreter
from bisect_tool.environments.sandbox_walls import IN_MEMORY
from bisect_tool.errors import MachineFault
from bisect_tool.stopping import Stop
from bisect_tool.trials.capture import Capture
from bisect_tool.trials.limits import Limits

MARK = "BISECT_TRIAL"
SUPERVISOR = Path(__file__).with_name("supervisor.py")
DUMP_TIME = 3.0  # seconds that a process gets to print its stack before it is killed
END_TIME = 15.0  # seconds for killed processes to go
BLOCK = 1 << 18
EXHAUSTED = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. `signal` is the number of the signal that ended it.

    `peak_memory` (bytes) is that of the largest single process of the trial. `left_running` is the number of processes
    that were still there after its end, and were killed. `is_lost`: nobody saw how it ended, because its supervisor died.
    `over`: which of its limits it went over, so that it was killed; empty for none.
    """

    exit_status: int | None
    signal: int | None
    timed_out: bool
    duration: float
    output: str
    output_bytes: int
    peak_memory: int | None
    left_running: int
    pid: int
    is_lost: bool = False
    over: str = ""


@dataclass(frozen=True, slots=True)
class Ends:
    """The file descriptors of a supervisor: it reads commands, and writes output and reports."""

    commands: int
    output: int
    reports: int


@dataclass(frozen=True, slots=True)
class Walls:
    """A sandbox for one process: `words` come before the command of its supervisor, which `interpreter` runs inside.

    `in_memory` are the file systems inside that take memory of this machine.
    """

    words: tuple[str, ...]
    interpreter: str
    in_memory: tuple[str, ...] = ()

    def start(self, ends: Ends) -> Callable[[], None]:
        """Start a supervisor inside. Raises `OSError`."""
        return _start([*self.words, self.interpreter, "-I", "-S", str(SUPERVISOR)], ends, {})

    def as_order(self) -> dict[str, object]:
        """What the supervisor has to know of it."""
        return {"is_walled": True, "in_memory": list(self.in_memory)}


def walls_of(sandbox: Sandbox, view: View) -> Walls:
    """The walls of a process with this view, whose supervisor is the first process inside."""
    return Walls(tuple(sandbox.words(view, "--as-pid-1", "--die-with-parent")), own_interpreter(), IN_MEMORY)


# Starts a supervisor on these ends; gives what waits for its end, and kills it when that takes too long.
StartSupervisor = Callable[[Ends], Callable[[], None]]


@dataclass(slots=True)
class _Supervised:
    """A supervisor at work: what it has reported so far, and our ends of the pipes to it."""

    commands: int
    output: int
    reports: int
    capture: Capture = field(default_factory=Capture)
    said: dict[str, Any] = field(default_factory=dict)
    pending: bytes = b""
    is_gone: bool = False
    is_let_go: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, text: bytes) -> None:
        """Say something to the supervisor; if it is gone, its reports end, and that is noticed there."""
        with self.lock, contextlib.suppress(BrokenPipeError):
            while text and not self.is_let_go:
                text = text[os.write(self.commands, text) :]

    def let_go(self) -> None:
        """Close the pipe to the supervisor, upon which it ends everything; from any thread, any number of times."""
        with self.lock:
            if not self.is_let_go:
                self.is_let_go = True
                os.close(self.commands)

    def read_until(self, word: str, deadline: float) -> bool:
        """Read output and reports until `word` was reported (True) or the deadline has come."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.reports, selectors.EVENT_READ)
            with contextlib.suppress(OSError):
                selector.register(self.output, selectors.EVENT_READ)
            while word not in self.said and not self.is_gone:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                for key, _ in selector.select(left):
                    if key.fd == self.reports:
                        self._read_report()
                    elif not self._read_output():
                        selector.unregister(self.output)
        return word in self.said

    def _read_report(self) -> None:
        block = os.read(self.reports, BLOCK)
        self.is_gone = not block
        *lines, self.pending = (self.pending + block).split(b"\n")
        for line in lines:
            try:
                self.said |= json.loads(line)
            except ValueError:
                self.said["broken"] = line.decode(errors="replace")

    def _read_output(self) -> bool:
        try:
            block = os.read(self.output, BLOCK)
        except BlockingIOError:
            return True
        self.capture.feed(block)
        return bool(block)

    def drain(self) -> None:
        """Read what is still in the pipe, at most its capacity: every writer is gone."""
        with contextlib.suppress(BlockingIOError):
            while block := os.read(self.output, BLOCK):
                self.capture.feed(block)


def start_fresh(ends: Ends) -> Callable[[], None]:
    """Start a supervisor of its own for one process. Raises `OSError`."""
    return _start([sys.executable, "-I", "-S", str(SUPERVISOR)], ends, None)


def _start(command: Sequence[str], ends: Ends, environ: Mapping[str, str] | None) -> Callable[[], None]:
    # Its own session: a Ctrl-C at the terminal is for the tool, which then closes the pipe.
    process = subprocess.Popen(
        command,
        env=environ,
        stdin=ends.commands,
        stdout=ends.output,
        stderr=ends.reports,
        start_new_session=True,
    )
    return lambda: end_process(process)


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that is about to end; kill it when it does not."""
    try:
        process.wait(END_TIME)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def run_process(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: Path,
    timeout: float,
    mark: str,
    start: StartSupervisor | None = None,
    stop: Stop | None = None,
    limits: Limits | None = None,
    walls: Walls | None = None,
) -> Ended:
    """Run `command` in `folder` for at most `timeout` seconds, with an empty standard input.

    `mark` is a word that no other process on this machine carries; `limits` is what it may take. With `walls` it runs in that
    sandbox, and the pid that is told is one of there; `start` is how its supervisor is started, if not by `walls` or afresh.
    Raises `OSError` when the command cannot be started, `MachineFault` when this machine cannot start anything, `Cancelled`
    when another thread has set `stop`. On Ctrl-C and when it is stopped, nothing of the process is left behind.
    """
    stop = stop or Stop()
    stop.check()
    order: dict[str, object] = {"command": list(command), "environ": {**environ, MARK: mark}, "folder": str(folder)}
    if limits is not None:
        order["limits"] = limits.as_values()
    if walls is not None:
        order |= walls.as_order()
    begin = start or (start_fresh if walls is None else walls.start)
    # Inside a sandbox there is nothing to sweep, and its process ids are others outside.
    with _supervising("" if walls else mark, begin) as supervised, stop.ending(supervised.let_go):
        supervised.tell(json.dumps(order).encode() + b"\n")
        supervised.read_until("pid", time.monotonic() + max(timeout, 60.0))
        stop.check()
        _check_started(supervised)
        timed_out = not supervised.read_until("status", supervised.said["at"] + timeout) and not supervised.is_gone
        if timed_out:
            _end_with_stack(supervised)
        supervised.read_until("left", time.monotonic() + END_TIME)
    stop.check()
    return _ended(supervised, timed_out=timed_out)


@contextmanager
def _supervising(mark: str, start: StartSupervisor) -> Iterator[_Supervised]:
    pipes: list[int] = []
    try:
        for _ in range(3):
            pipes += os.pipe()
        theirs = Ends(commands=pipes[0], output=pipes[3], reports=pipes[5])
        os.set_blocking(pipes[2], False)
        end = start(theirs)
    except OSError as error:
        for one in pipes:
            os.close(one)
        raise _exhausted(error) from error
    for one in (theirs.commands, theirs.output, theirs.reports):
        os.close(one)
    supervised = _Supervised(commands=pipes[1], output=pipes[2], reports=pipes[4])
    try:
        yield supervised
        supervised.drain()
    finally:
        _let_go(supervised, mark, end)


def _check_started(supervised: _Supervised) -> None:
    said = supervised.said
    if "errno" in said:
        error = OSError(said["errno"], os.strerror(said["errno"]), said["where"])
        raise _exhausted(error) if error.errno in EXHAUSTED else error
    if "pid" not in said:
        raise MachineFault(
            "the program that watches over a trial did not start" + (f": {said['broken']}" if "broken" in said else ""),
            where=sys.executable,
            advice="look at the memory and the limits of this machine (`free -h`, `ulimit -a`), then run it again",
        )


def _exhausted(error: OSError) -> MachineFault:
    return MachineFault(
        f"no process can be started: {error.strerror}",
        advice="look at the memory and the limits of this machine (`free -h`, `ulimit -a`), then run it again",
    )


def _end_with_stack(supervised: _Supervised) -> None:
    """End a process that took too long, after faulthandler has printed where it was."""
    supervised.tell(b"a")
    if not supervised.read_until("status", time.monotonic() + DUMP_TIME):
        supervised.tell(b"k")
        supervised.read_until("status", time.monotonic() + END_TIME)


def _let_go(supervised: _Supervised, mark: str, end: Callable[[], None]) -> None:
    """Also on Ctrl-C and after the supervisor's death: nothing of a trial outlives it."""
    supervised.let_go()
    os.close(supervised.reports)
    end()
    if mark and "left" not in supervised.said and "pid" in supervised.said:
        supervised.said["left"] = _sweep(supervised.said["pid"], mark)
    os.close(supervised.output)


def _sweep(pid: int, mark: str) -> int:
    """Kill what carries the mark of the trial or is of its session: for when the supervisor could not; gives how many."""
    killed: set[int] = set()
    # Several times: what is just being forked while we look is found the next time.
    for _ in range(20):
        found = [process for process in psutil.process_iter() if _is_marked(process, pid, mark)]
        if not found:
            break
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
                killed.add(process.pid)
        psutil.wait_procs(found, timeout=0.5)
    return len(killed - {pid})


def _is_marked(process: psutil.Process, pid: int, mark: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE or process.pid == os.getpid():
            return False
        return os.getsid(process.pid) == pid or process.environ().get(MARK) == mark
    except (psutil.Error, OSError):
        return False


def _ended(supervised: _Supervised, *, timed_out: bool) -> Ended:
    said = supervised.said
    # Without a status, somebody killed the supervisor and with it the trial, or the kernel holds on to the process.
    code = os.waitstatus_to_exitcode(said["status"]) if "status" in said else -signal.SIGKILL
    return Ended(
        exit_status=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        timed_out=timed_out,
        duration=said.get("seconds", time.monotonic() - said["at"]),
        output=supervised.capture.text(),
        output_bytes=supervised.capture.total,
        peak_memory=said.get("peak"),
        left_running=said.get("left", 0),
        pid=said["pid"],
        is_lost="status" not in said,
        over=said.get("over", ""),
    )
