"""Stopping work that another thread does: the processes that it waits for are ended, and it ends with `Cancelled`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Cancelled(Exception):
    """The work was called off: its result is not wanted any more, and says nothing."""


class Stop:
    """Can be set once, from any thread. Whoever waits for a process says here how that is ended."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._enders: list[Callable[[], None]] = []

    @property
    def is_set(self) -> bool:
        """Whether the work was called off."""
        return self._event.is_set()

    def set(self) -> None:
        """Call the work off: every process that is being waited for is ended."""
        with self._lock:
            self._event.set()
            enders = list(self._enders)
        for end in enders:
            end()

    def check(self) -> None:
        """Raises `Cancelled` once the work was called off."""
        if self.is_set:
            raise Cancelled

    def sleep(self, seconds: float) -> None:
        """Wait so long. Raises `Cancelled` as soon as the work is called off."""
        self._event.wait(seconds)
        self.check()

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """While the context lasts, `end` is called when the work is called off; at once when that was before.

        `end` comes from another thread, and may come when there is nothing left to end.
        """
        with self._lock:
            self._enders.append(end)
        try:
            if self.is_set:
                end()
            yield
        finally:
            with self._lock:
                self._enders.remove(end)
