"""The first environment of an empty cache is made alone: several at once would each fetch what all of them need."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bisect_tool.environments import locks
from bisect_tool.runs.executors import News, WaitingForFirst
from bisect_tool.stopping import Stop


class First:
    """Lets one through as long as a cache has no environment (`has_one`), then everybody."""

    def __init__(self, *, has_one: bool) -> None:
        self._has_one = has_one
        self._lock = threading.Lock()

    @contextmanager
    def after(self, stop: Stop, tell: Callable[[News], None]) -> Iterator[None]:
        """Make an environment while this lasts. Raises `Cancelled` once `stop` is set."""
        is_first = not self._has_one and self._lock.acquire(blocking=False)
        if not is_first and not self._has_one:
            tell(WaitingForFirst())
        while not is_first and not self._has_one:
            stop.check()
            is_first = self._lock.acquire(timeout=locks.PATIENCE)
        try:
            yield
            self._has_one = True
        finally:
            if is_first:
                self._lock.release()
