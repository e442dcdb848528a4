"""Several workers as threads of one process: what `bisect worker` and `bisect serve` start."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bisect_tool.runs.workshop import Workshop
from bisect_tool.service.queue import Queue
from bisect_tool.service.worker import Worker
from bisect_tool.stopping import Stop
from bisect_tool.store.database import Database


@dataclass
class Crew:
    """`count` workers for the jobs of `lanes`; the rest as of `Worker`. `stop` lets all of them end."""

    workshop: Workshop
    database: Database
    lanes: Sequence[str]
    count: int
    waits: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    tell: Callable[[str], None] = lambda _line: None
    stop: Stop = field(default_factory=Stop)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self, *, until_idle: bool = False) -> None:
        """Start all of them."""
        for number in range(self.count):
            queue = Queue(self.database, self.workshop.settings.lease)
            worker = Worker(self.workshop, queue, self.lanes, self.waits, self.environ, self.tell)
            words = {"until_idle": until_idle}
            thread = threading.Thread(target=worker.work, args=(self.stop,), kwargs=words, name=f"worker-{number}")
            thread.start()
            self._threads.append(thread)

    def join(self, seconds: float | None = None) -> bool:
        """Wait until all have ended, each for at most so many seconds; whether they have.

        Signals are handled in between.
        """
        for thread in self._threads:
            thread.join(seconds)
        return not any(thread.is_alive() for thread in self._threads)
