"""Processes that begin in a moment: forked from one that has loaded everything a batch needs, so that many can be killed."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Self


@dataclass
class Child:
    """A process of a nursery; `status` once it has ended: below 0 the signal that ended it, as in `subprocess`."""

    pid: int
    status: int | None = None
    _over: threading.Event = field(default_factory=threading.Event)

    def wait(self, seconds: float | None = None) -> int | None:
        """Its status, None when it has not ended after so many seconds."""
        self._over.wait(seconds)
        return self.status

    def kill(self) -> int:
        """Kill it; gives its status, which is another one when it was faster."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._over.wait()
        assert self.status is not None
        return self.status

    def has_ended(self, status: int) -> None:
        """It has."""
        self.status = status
        self._over.set()


class Nursery:
    """Starts children; usable from several threads. `module` has a function `child(words)` that they call."""

    def __init__(self, module: str) -> None:
        words = [sys.executable, "-m", "tests.rig.nursery", module]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._lock = threading.Lock()
        self._births: list[Child] = []
        self._is_born = threading.Semaphore(0)
        self._children: dict[int, Child] = {}
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def start(self, *words: str) -> Child:
        """A child that is given these words."""
        with self._lock:
            told = _pipe(self._process.stdin)
            told.write(json.dumps(words) + "\n")
            told.flush()
            self._is_born.acquire()
            return self._births.pop()

    def _listen(self) -> None:
        for line in _pipe(self._process.stdout):
            event, pid, status = json.loads(line)
            if event == "born":
                self._children[pid] = Child(pid)
                self._births.append(self._children[pid])
                self._is_born.release()
            else:
                self._children.pop(pid).has_ended(status)
        for child in self._children.values():  # nobody tells of them any more
            child.has_ended(1)
        self._is_born.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _pipe(self._process.stdin).close()
        self._process.wait(60)
        self._thread.join()
        _pipe(self._process.stdout).close()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


@contextmanager
def _said() -> Iterator[Callable[[str, int, int], None]]:
    """Events go to what was standard output; nothing that a child prints gets there."""
    events = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(event: str, pid: int, status: int) -> None:
        events.write(json.dumps([event, pid, status]) + "\n")
        events.flush()

    with events:
        yield say


def _fork(child: Callable[[list[str]], None], words: list[str]) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        child(words)
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Fork a child for each line of standard input; tell of each birth and each end; at its end wait for all of them."""
    module = __import__(sys.argv[1], fromlist=["child"])
    module.load()
    assert threading.active_count() == 1, "a fork copies the locks of other threads"
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ)
    rest = b""
    with _said() as say:
        while selector.get_map():
            for key, _ in selector.select():
                if key.data is not None:
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _, status = os.waitpid(key.data, 0)
                    say("ended", key.data, os.waitstatus_to_exitcode(status))
                    continue
                read = os.read(0, 65536)
                if not read:
                    selector.unregister(0)
                *lines, rest = (rest + read).split(b"\n")
                for line in lines:
                    pid = _fork(module.child, json.loads(line))
                    selector.register(os.pidfd_open(pid), selectors.EVENT_READ, pid)
                    say("born", pid, 0)


if __name__ == "__main__":
    main()
