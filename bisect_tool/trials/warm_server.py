"""Imports the heavy modules of a build once, and forks one process for each trial; run as a program, never imported.

It runs inside the environment of a build (Python 3.8 or newer), below a supervisor of its own, and never runs code of a repro.
For each trial it forks a *watcher*, which does what `bisect_tool.trials.supervisor` does for a trial that starts fresh (its
code is used), and the watcher forks the trial. So all promises of the supervisor hold: a session of its own, nothing is left,
the exact status, the peak memory, the stack at a timeout, the death of the tool.

What makes a fork behave like a fresh start: imports come before any thread and any CUDA context, or the server says that it is
unfit. The trial gets its own variables, folder, arguments and standard files, a fresh `__main__`, and runs at the bottom of
this file, under no function of it; the one frame that is left is taken out of what is printed. What imports print is printed
again by every trial. `docs/speed.md` says what stays different.

Arguments: the file descriptor of a socket, and the plan as JSON. The first message on the socket is the report of the imports,
as JSON. Each message from the tool is one byte with the three file descriptors of `bisect_tool.trials.process.Ends`; the
order comes on the first of them.
"""

from __future__ import annotations

import sys

if sys.path[:1] == [__file__.rpartition("/")[0]]:
    del sys.path[0]  # or the modules beside this file would be imported instead of others of their names

import array
import collections
import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
import time
import warnings
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
HIGH = 200  # where the socket goes, so that the files that imports open have the numbers that they always have
MOST_PRINTED = 64 * 1024
OWN = __file__
ITSELF = sys.modules["__main__"]  # its names are needed until the end of the trial


class Watched(type(os.environ)):  # type: ignore[misc]
    """The environment while modules are imported: notes which variables are looked at one by one."""

    looked_at: Any = set()
    copied: Any = collections.deque()

    def __getitem__(self, key: str) -> str:
        if Watched.copied and Watched.copied[0] == key:
            Watched.copied.popleft()
        else:
            Watched.copied.clear()
            Watched.looked_at.add(key)
        return str(super().__getitem__(key))

    def __iter__(self) -> Any:
        for key in super().__iter__():
            Watched.copied.append(key)  # whoever copies the whole asks for each, in this order
            yield key


def import_all(names: list[str], scratch: list[str]) -> dict[str, Any]:
    """Import every module; gives the report."""
    started, kept = time.monotonic(), type(os.environ)
    module = ""
    os.environ.__class__ = Watched
    try:
        for module in names:
            importlib.import_module(module)
            read = sorted(Watched.looked_at.intersection(scratch))
            if read:
                return {"unfit": "it looks at %s while it is imported" % ", ".join(read), "module": module}
    except BaseException as error:  # whatever it is: a fresh process shows it to the user
        return {"unfit": "its import raises %s" % type(error).__name__, "module": module}
    finally:
        os.environ.__class__ = kept
    unfit = why_unfit()
    if unfit:
        return {"unfit": unfit, "module": module}
    loaded = sorted({name.partition(".")[0] for name in sys.modules})
    return {"ready": True, "loaded": loaded, "seconds": time.monotonic() - started}


def why_unfit() -> str:
    """What a fork would not inherit as a fresh start has it; empty when there is nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the threads that are counted below
        pid = os.fork()  # libraries that know forks, such as OpenBLAS, end their threads before one
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        return "%d threads run after the imports" % threads
    opened = [os.readlink("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd") if is_open(name)]
    if any(path.startswith(("/dev/nvidia", "/dev/kfd")) for path in opened):
        return "the GPU is in use after the imports"
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and hasattr(cuda, "is_initialized") and cuda.is_initialized():
        return "CUDA is initialised by the imports"
    if sys.excepthook is not sys.__excepthook__:
        return "sys.excepthook is replaced by the imports"
    return ""


def is_open(number: str) -> bool:
    """Whether a file descriptor is still there: listing the folder opened one more."""
    return os.path.lexists("/proc/self/fd/" + number)


@contextlib.contextmanager
def captured_output(into: list[bytes]) -> Any:
    """Put into `into` what is printed meanwhile, by C too, so that every trial can print it again."""
    kept = [move_up(os.dup(number)) for number in (1, 2)]
    file = move_up(os.memfd_create("printed"))
    os.dup2(file, 1)
    os.dup2(file, 2)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        into.append(os.pread(file, MOST_PRINTED, 0))
        for number in (file, *kept):
            os.close(number)


def receive(control: socket.socket) -> list[int]:
    """The file descriptors of the next message; none when the tool is gone."""
    found = array.array("i")
    _, extra, _, _ = control.recvmsg(16, socket.CMSG_SPACE(3 * found.itemsize))
    for level, kind, content in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(content[: len(content) - len(content) % found.itemsize])
    return list(found)


def serve(control: socket.socket, wakeup: int, tools: dict[str, Any]) -> list[int]:
    """Fork watchers until the tool is gone; comes back in a watcher, with its file descriptors."""
    watchers: set[int] = set()
    while True:
        ready, _, _ = select.select([control.fileno(), wakeup], [], [])
        if wakeup in ready:
            os.read(wakeup, 512)
            reap(watchers, tools)
        if control.fileno() not in ready:
            continue
        ends = receive(control)
        if len(ends) != 3:
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            return ends
        watchers.add(pid)
        for number in ends:
            os.close(number)


def reap(watchers: set[int], tools: dict[str, Any]) -> None:
    """Take the status of what has ended; kill what a watcher that was killed has left to this process."""
    broke = False
    with contextlib.suppress(ChildProcessError):
        pid = -1
        while pid:
            pid, status = os.waitpid(-1, os.WNOHANG)
            broke = broke or (pid in watchers and status != 0)
            watchers.discard(pid)
    for pid in tools["descendants"](os.getpid()) if broke else ():
        if not watchers.intersection((pid, *ancestors(pid, tools))):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def ancestors(pid: int, tools: dict[str, Any]) -> list[int]:
    """The processes above one, up to this one."""
    found = []
    while pid not in (0, os.getpid()):
        pid = tools["living_parent"](str(pid))
        found.append(pid)
    return found


def watch(ends: list[int], tools: dict[str, Any], prctl: Any) -> tuple[str, dict[str, Any]]:
    """In the watcher: follow one trial and end; comes back in the trial, with its script and the names of its `__main__`."""
    commands, output, reports = ends
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for source, target in ((commands, 0), (nothing, 1), (reports, 2)):
        os.dup2(source, target)
    for number in (commands, reports, nothing):
        os.close(number)
    order = dict(tools["read_order"]())
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    woken, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    following = tools["Supervisor"](woken)
    watcher, (reading, writing) = os.getpid(), os.pipe()
    pid = os.fork()
    if pid == 0:
        become(order, prctl, watcher, output)
        tools["confine"](order)
        settle_modules(order)
        names = fresh_main(order["command"][1])
        os.write(writing, b"1")
        for number in (woken, wakeup, reading, writing, output):
            os.close(number)
        return order["command"][1], names
    os.close(writing)
    os.close(output)
    if not os.read(reading, 1):
        os._exit(1)
    following.pid = pid
    following.limit(order)
    tools["report"](pid=pid, at=following.started)
    try:
        following.follow()
    finally:
        following.clean_up()
    os._exit(0)


def become(order: dict[str, Any], prctl: Any, watcher: int, output: int) -> None:
    """In the trial: what differs from one to the next, as the supervisor and the start of Python set it up."""
    os.setsid()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != watcher:
        os._exit(1)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(order["folder"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(nothing)
    prctl(PR_SET_DUMPABLE, 1)
    os.environ.clear()
    os.environ.update(order["environ"])


def settle_modules(order: dict[str, Any]) -> None:
    """Put right what modules keep of the process that imported them."""
    command, folder = order["command"], order["environ"].get("BISECT_EXCEPTIONS")
    sys.argv[:] = command[1:]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = command
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, command[1].rpartition("/")[0])
    hook = sys.modules.get("_bisect_exception_hook")
    if hook is not None and folder:
        hook.install(folder)
    if "multiprocessing.process" in sys.modules:
        vars(sys.modules["multiprocessing.process"])["ORIGINAL_DIR"] = os.getcwd()
    if "tempfile" in sys.modules:
        vars(sys.modules["tempfile"])["tempdir"] = None
    if "numpy.random" in sys.modules:
        vars(sys.modules["numpy.random"])["seed"]()


def fresh_main(path: str) -> dict[str, Any]:
    """The names of a new `__main__`, as `python PATH` makes them."""
    from importlib.machinery import SourceFileLoader

    module = type(sys)("__main__")
    names = {"__loader__": SourceFileLoader("__main__", path), "__builtins__": sys.modules["builtins"]}
    names.update({"__file__": path, "__cached__": None})
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    module.__dict__.update(names)
    sys.modules["__main__"] = module
    return module.__dict__


def hide_own_frame() -> None:
    """Have the uncaught exception shown without the frame of this file."""
    hook = sys.excepthook

    def show(kind: Any, error: Any, trace: Any) -> None:
        while trace is not None and trace.tb_frame.f_code.co_filename == OWN:
            trace = trace.tb_next
        hook(kind, error.with_traceback(trace), trace)

    sys.excepthook = show


def main() -> tuple[str, dict[str, Any], bytes]:
    """Serve; comes back in each trial, with its script, the names of its `__main__`, and what the imports have printed."""
    control = socket.socket(fileno=move_up(int(sys.argv[1])))
    plan = json.loads(sys.argv[2])
    sys.argv[:] = [""]
    with open(plan["supervisor"], encoding="utf-8") as file:
        tools: dict[str, Any] = {"__name__": "supervisor"}
        exec(compile(file.read(), plan["supervisor"], "exec", dont_inherit=True), tools)
    printed: list[bytes] = []
    with captured_output(printed):
        report = import_all(plan["modules"], plan["scratch"])
    control.send(json.dumps(report).encode())
    if "unfit" in report:
        os._exit(0)
    gc.freeze()  # else the end of each trial copies every page of what was imported
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    if plan.get("is_walled"):
        prctl(PR_SET_DUMPABLE, 0)  # trials are of the same user, and may not change what the next ones are forked from
    woken, wakeup = (move_up(number) for number in os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC))
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    ends = serve(control, woken, tools)
    try:
        signal.set_wakeup_fd(-1)
        control.close()
        os.close(woken)
        os.close(wakeup)
        script, names = watch(ends, tools, prctl)
    except BaseException:  # a watcher that breaks may not go on as a trial, nor half a trial as one
        os._exit(1)
    return script, names, printed[0]


def move_up(number: int) -> int:
    """The same file under a high number."""
    moved = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, HIGH)
    os.close(number)
    return moved


if __name__ == "__main__":
    _script, _names, _printed = main()
    if _printed:
        os.write(1, _printed)
    try:
        with open(_script, "rb") as _file:
            _code = _file.read()
        exec(compile(_code, _script, "exec", dont_inherit=True), _names)
    except BaseException:
        hide_own_frame()
        raise
