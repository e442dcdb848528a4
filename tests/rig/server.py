"""A real `bisect serve` in a process of its own, on loopback, at a port of its own."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import IO


@dataclass(slots=True)
class Server:
    """A server that runs; `log` are the lines of its standard error so far."""

    process: subprocess.Popen[str]
    address: str
    log: list[str] = field(default_factory=list)

    def stop(self, number: int = signal.SIGTERM, seconds: float = 120) -> int:
        """Send a signal and wait for the end; gives the exit status."""
        self.process.send_signal(number)
        return self.process.wait(seconds)


def _read(stream: IO[str], take: Callable[[str], object]) -> None:
    for line in stream:
        take(line)


@contextmanager
def server(command: list[str], environ: Mapping[str, str], folder: Path) -> Iterator[Server]:
    """Start `command`, which ends in `serve` and its options; killed at the end if it is still there."""
    process = subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env=dict(environ), start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    log: list[str] = []
    lines: Queue[str] = Queue()
    takers = ((process.stdout, lines.put), (process.stderr, log.append))
    readers = [threading.Thread(target=_read, args=one, daemon=True) for one in takers]
    for reader in readers:
        reader.start()
    try:
        match = re.search(r"at (http://\S+)", lines.get(timeout=300))
        assert match
        yield Server(process, match[1], log)
    except Empty:
        raise AssertionError("".join(log)) from None
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(30)
        for reader in readers:
            reader.join(10)
        process.stdout.close()
        process.stderr.close()
