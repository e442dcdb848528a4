"""The process that answers a question, as its worker sees it: started, read, ended."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from bisect_tool.service.news import News, read_line
from bisect_tool.service.order import Order, environment_of

COMMAND = (sys.executable, "-m", "bisect_tool.service.answering")
GRACE = 60.0  # seconds to report what is known, before it is killed
_PATIENCE = 5.0  # seconds for a process that has said its last to be gone
_TAIL = 2000  # bytes of what it printed


class Child:
    """A process that answers. It has one reader: the thread that started it, with which it dies."""

    def __init__(self, process: subprocess.Popen[bytes], printed: Path) -> None:
        self._process = process
        self._printed = printed
        self._rest = b""
        self._ended_at: float | None = None
        self.is_over = False
        assert process.stdout is not None
        self._out: IO[bytes] = process.stdout
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._out, selectors.EVENT_READ)

    def news(self, seconds: float) -> list[News]:
        """What it says within so many seconds; less when it ends."""
        if self._ended_at is not None and time.monotonic() > self._ended_at + GRACE:
            self.kill()
        if not self._ready.select(seconds):
            return []
        found = os.read(self._out.fileno(), 1 << 16)
        self.is_over = not found
        *lines, self._rest = (self._rest + found).split(b"\n")
        return [read_line(line) for line in lines if line]

    def stop(self) -> None:
        """Have it stop and report what is known; killed when that takes too long."""
        if self._ended_at is None:
            self._ended_at = time.monotonic()
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End it at once: what it has stored stays."""
        with suppress(ProcessLookupError):
            self._process.kill()

    def last_words(self) -> str:
        """How it ended and the last of what it printed, for people."""
        try:
            status = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # it has closed its output, but hangs
            self.kill()
            status = self._process.wait()
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        text = self._printed.read_bytes()[-_TAIL:].decode("utf-8", "replace").strip()
        return f"{how}: {text.splitlines()[-1][:300]}" if text else how

    def close(self) -> None:
        """Kill what is left, and let go of the pipe."""
        self.kill()
        self._process.wait()
        self._ready.close()
        self._out.close()


@contextmanager
def child_of(order: Order, folder: Path, printed: Path, environ: Mapping[str, str]) -> Iterator[Child]:
    """A process that carries out `order` in `folder`, killed when the context ends; what it prints goes to `printed`."""
    with printed.open("wb") as errors:
        process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=folder,
            env=environment_of(environ), start_new_session=True,
        )  # fmt: skip
    child = Child(process, printed)
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as into:  # it could not even start: its end tells
            into.write(order.line().encode())
        yield child
    finally:
        child.close()
