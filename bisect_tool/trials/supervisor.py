"""Stands between the tool and a trial, so that nothing of the trial outlives either; run as a program, never imported.

Why a process of its own: it is a *subreaper*, so that whatever a trial leaves behind, daemons and processes in sessions of
their own too, becomes its child, and "no child is left" is a proof instead of a search. It holds a pipe of the tool: when
the tool dies, by SIGKILL too, the pipe ends and the trial is killed. The obvious alternative, PR_SET_PDEATHSIG set between
fork and exec in the tool, would run Python code in a forked child of a threaded process, would kill the trial when the
*thread* that started it ends, and would reach the direct child only; here it is safe, because this process has one thread,
and it covers the death of the supervisor itself. And because this process is small, the peak memory that the kernel
reports for the trial is not that of the tool: Linux counts the size before ``exec`` as well, so that a child is never
reported smaller than the process that forked it (about 10 MB here).

Standard input: the order, one line of JSON, then single letters: ``a`` sends SIGABRT to the trial, so that faulthandler
prints its stacks, ``k`` kills it; the end of the file ends everything. Standard output: that of the trial. Standard error:
one line of JSON for each step: started (or not), ended, cleaned up.

In a sandbox it runs inside, as the first process of the namespace, which no other one there can end: the trial is of the same
user. When it ends, the kernel ends whatever else is there.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
DEFAULT_AGAIN = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM)
PATIENCE = 10.0  # seconds for killed processes to go; those that hang in the kernel are left to it
LOOK = 0.5  # seconds between two looks at what a trial takes
NO_ROOM = 500_000_000  # bytes: with less than this free the disk is full, whatever the limit
PR_SET_DUMPABLE = 4
TASKS = 4  # times the processes that are allowed: the kernel counts threads too, and stops a bomb between two looks
TICKS = os.sysconf("SC_CLK_TCK")
KEYCTL = {"x86_64": 250, "aarch64": 219}  # keyctl(2); the number of the call on each kind of machine


class Supervisor:
    """Follows one trial, whose process is `pid`."""

    def __init__(self, wakeup: int) -> None:
        self.wakeup = wakeup
        self.pid = 0
        self.started = time.monotonic()
        self.ended = False
        self.peak = 0
        self.limits: dict[str, int] = {}
        self.places: list[str] = []  # that a trial writes to
        self.free: dict[str, int] = {}  # bytes of each, when it began
        self.in_memory: list[str] = []  # file systems of the trial alone, which take memory
        self.pause = LOOK
        self.is_over = False

    def limit(self, order: dict[str, Any]) -> None:
        """From now on the trial may take no more than its order says."""
        self.limits = order.get("limits") or {}
        self.in_memory = order.get("in_memory") or []
        own = os.path.dirname(order["folder"])  # noqa: PTH120  pathlib would be half of the start-up time
        temporary = (order.get("environ") or {}).get("TMPDIR", "")
        # Only a folder that bisect has made for the trial; what others have in theirs is not its own.
        is_apart = "/bisect-" in temporary and not temporary.startswith(own + "/")
        self.places = [own, temporary] if is_apart else [own]
        if self.limits.get("disk"):
            self.free = {place: free_in(place) for place in self.places}

    def follow(self) -> None:
        """Until the trial has ended or the tool is gone."""
        waiting = {0, self.wakeup}
        due = time.monotonic() + self.pause
        while not self.ended:
            ready, _, _ = select.select(waiting, [], [], self.pause if self.limits else None)
            if self.limits and time.monotonic() >= due and not self.is_over:
                self._look()
                due = time.monotonic() + self.pause
            if self.wakeup in ready:
                os.read(self.wakeup, 512)
                self.reap()
            if 0 in ready and not self._obey(os.read(0, 1)):
                return

    def _look(self) -> None:
        """End the trial when it takes more than it may."""
        pids = descendants(os.getpid())
        over = self._over(pids)
        if over:
            self.tell_over(over)
            freeze()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def tell_over(self, over: str) -> None:
        """Say once which limit it went over."""
        if not self.is_over:
            self.is_over = True
            report(over=over)

    def _over(self, pids: list[int]) -> str:
        """What it takes too much of, in words; empty when nothing."""
        most = self.limits
        if most.get("cpu") and (used := seconds_of(pids)) > most["cpu"]:
            return f"it used {used:.0f} s of processor time, {most['cpu']} s are allowed"
        if most.get("processes") and len(pids) > most["processes"]:
            return f"it had {len(pids)} processes at once, {most['processes']} are allowed"
        if most.get("memory"):
            apart = sum(map(used_in, self.in_memory))
            held = apart + sum(map(memory_of, pids))
            self.pause = LOOK if held < most["memory"] // 2 else LOOK / 10
            if held > most["memory"]:  # what a fork shares was counted in each: look closer
                held = apart + sum(map(share_of, pids))
            if held > most["memory"]:
                return f"it held {held / 1e9:.1f} GB of memory, {most['memory'] / 1e9:.1f} GB are allowed"
        for place, free_before in self.free.items() if most.get("disk") else ():
            free = free_in(place)
            if free_before - free > most["disk"] or free < NO_ROOM:
                held = size_of(place)
                if held > most["disk"]:
                    return f"it wrote {held / 1e9:.1f} GB into its own folder, {most['disk'] / 1e9:.1f} GB are allowed"
                if free < NO_ROOM and held > max(NO_ROOM, free_before // 2):  # most of what was free when it began
                    return f"the disk is full, and {held / 1e9:.1f} GB of that are its own"
        return ""

    def _obey(self, letter: bytes) -> bool:
        if not self.ended and letter == b"a":
            os.kill(self.pid, signal.SIGABRT)
            os.kill(self.pid, signal.SIGCONT)  # a stopped process takes no signal but this and SIGKILL
        elif not self.ended and letter == b"k":
            os.kill(self.pid, signal.SIGKILL)
        return bool(letter)

    def reap(self) -> bool:
        """Take the status of every process that has ended; gives whether any child is left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.peak = max(self.peak, usage.ru_maxrss * 1024)
            if pid == self.pid:
                self.ended = True
                self._look_back(status)
                report(status=status, seconds=time.monotonic() - self.started, peak=self.peak)

    def _look_back(self, status: int) -> None:
        """Whether a limit ended it, or kept it from writing on, which a trial may show as a failure of its own."""
        if status == 0:
            return
        full = next((place for place in self.in_memory if is_full(place)), None)
        if full is not None:
            self.tell_over(f"it filled {full}, which takes {used_in(full) / 1e9:.1f} GB of memory")
        most = self.limits.get("file_size", 0)
        if not most:
            return
        if os.WTERMSIG(status) == signal.SIGXFSZ or any(has_file_of(place, most) for place in self.places):
            self.tell_over(f"it wrote a file of {most / 1e9:.1f} GB, no larger one is allowed")

    def clean_up(self) -> None:
        """Kill everything that is left, and tell how many there were."""
        killed: set[int] = set()
        deadline = time.monotonic() + PATIENCE
        while self.reap() and time.monotonic() < deadline:
            for pid in descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
            if os.getpid() == 1:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)  # all at once, so that nothing can fork meanwhile
            time.sleep(0.005)
        report(left=len(killed - {self.pid}), peak=self.peak)


def report(**values: Any) -> None:
    """One line to the tool; if that is gone, nobody needs it."""
    with contextlib.suppress(OSError):
        os.write(2, json.dumps(values).encode() + b"\n")


def descendants(root: int) -> list[int]:
    """The living processes below `root`."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  pathlib would be half of the start-up time
        if name.isdigit() and (parent := living_parent(name)):
            children.setdefault(parent, []).append(int(name))
    found, new = [], [root]
    while new:
        new = [child for pid in new for child in children.get(pid, ())]
        found += new
    return found


def freeze() -> None:
    """Stop everything below this process, so that nothing new comes while it is being killed."""
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGSTOP)
        return
    stopped: set[int] = set()
    for _ in range(50):
        new = set(descendants(os.getpid())) - stopped
        if not new:
            return
        for pid in new:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGSTOP)
        stopped |= new


def memory_of(pid: int) -> int:
    """Bytes that a process has of its own: what it shares with files does not count."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123  pathlib would be half of the start-up time
            _, resident, shared = file.read().split()[:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * resource.getpagesize()


def share_of(pid: int) -> int:
    """Bytes that a process has of its own; of what it shares with others since a fork its part."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123  pathlib would be half of the start-up time
            shares = [int(line.split()[1]) for line in file if line.startswith(b"Pss_Anon:")]
    except (OSError, ValueError):
        shares = []
    return shares[0] * 1024 if shares else memory_of(pid)


def seconds_of(pids: list[int]) -> float:
    """Seconds of processors that these and all that have ended below this process have used."""
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = own.ru_utime + own.ru_stime
    for pid in pids:
        name = f"/proc/{pid}/stat"
        with contextlib.suppress(OSError, ValueError), open(name, "rb") as file:  # noqa: PTH123  likewise
            total += sum(map(int, file.read().rpartition(b")")[2].split()[11:15])) / TICKS
    return total


def used_in(folder: str) -> int:
    """Bytes that are taken of a file system."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def is_full(folder: str) -> bool:
    """Whether nothing more can be written there."""
    try:
        return os.statvfs(folder).f_bavail == 0
    except OSError:
        return False


def has_file_of(folder: str, size: int) -> bool:
    """Whether a file in `folder` has as many bytes."""
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                if os.lstat(f"{place}/{name}").st_size >= size:
                    return True
    return False


def free_in(folder: str) -> int:
    """Bytes that are free where `folder` lies."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return 1 << 62  # it is gone: nothing can be said
    return found.f_bavail * found.f_frsize


def size_of(folder: str) -> int:
    """Bytes on the disk of everything in `folder`."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(f"{place}/{name}").st_blocks * 512
    return total


def living_parent(pid: str) -> int:
    """The parent of a process; 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  likewise
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return 0
    return 0 if state in {b"Z", b"X"} else int(parent)


def start(order: dict[str, Any], prctl: Any) -> int:
    """Start the trial in a session of its own; its process id, or 0 after the reason was reported."""
    reading, writing = os.pipe()
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        become(order, prctl, supervisor, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        trouble = pipe.read()
    if not trouble:
        return pid
    os.waitpid(pid, 0)
    os.write(2, trouble)
    return 0


def become(order: dict[str, Any], prctl: Any, supervisor: int, writing: int) -> NoReturn:
    """In the child: become the trial."""
    where = order["folder"]
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)
        os.chdir(where)
        where = order["command"][0]
        # A crash is shown by faulthandler; the memory of a large process would fill the disk.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        confine(order)
        # A tool that was started by nohup or in the background of a script ignores some of these, and would pass that on.
        for number in (*DEFAULT_AGAIN, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(1, 2)
        os.execvpe(order["command"][0], order["command"], order["environ"])  # noqa: S606  no shell is meant
    except OSError as error:
        os.write(writing, json.dumps({"errno": error.errno, "where": where}).encode() + b"\n")
    finally:
        os._exit(127)


def confine(order: dict[str, Any]) -> None:
    """In the child: what the kernel itself bounds."""
    limits = order.get("limits") or {}
    if limits.get("file_size"):
        lower(resource.RLIMIT_FSIZE, limits["file_size"])
    if limits.get("processes") and order.get("is_walled"):
        lower(resource.RLIMIT_NPROC, TASKS * limits["processes"])  # outside, those of the same user would count as well


def lower(kind: int, most: int) -> None:
    """Set a limit for good, unless a lower one is there."""
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def shut(prctl: Any) -> None:
    """In a sandbox: the trial, which is of the same user, may neither look into this process nor find the tool's keys."""
    prctl(PR_SET_DUMPABLE, 0)
    number = KEYCTL.get(os.uname().machine)
    if number is not None:
        ctypes.CDLL(None).syscall(number, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING: a new, empty one


def read_order() -> dict[str, Any]:
    """The first line of standard input; what follows it is only written once the trial runs."""
    line = b""
    while not line.endswith(b"\n"):
        block = os.read(0, 65536)
        if not block:
            sys.exit(1)
        line += block
    return dict(json.loads(line))


def main() -> None:
    """Follow the order on standard input."""
    order = read_order()
    prctl = ctypes.CDLL(None).prctl
    if order.get("is_walled"):
        shut(prctl)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    supervisor = Supervisor(reading)
    supervisor.pid = start(order, prctl)
    if supervisor.pid == 0:
        return
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # the output ends when the trial's own ends are closed
    report(pid=supervisor.pid, at=supervisor.started)
    supervisor.limit(order)
    try:
        supervisor.follow()
    finally:
        supervisor.clean_up()


if __name__ == "__main__":
    main()
