"""A wire with a bandwidth and a latency between a local server and whoever asks it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

BLOCK = 64 << 10
_FIRST_WINDOW = 14_600  # bytes: ten segments, as TCP begins (RFC 6928)


@dataclass(slots=True)
class Wire:
    """Bytes a second over all connections (`bandwidth`) and for each (`per_connection`), seconds to and fro (`latency`).

    None: no bound. With `slow_start` a connection sends only so much in a round trip at first, and twice as much in each
    further one. `closing` ends every wait.
    """

    bandwidth: float | None = None
    per_connection: float | None = None
    latency: float = 0.0
    slow_start: bool = False
    closing: threading.Event = field(default_factory=threading.Event)
    _until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def connected(self) -> Lane:
        """A new connection: its handshake takes a round trip."""
        self.closing.wait(self.latency)
        return Lane(self)

    def turn(self, count: int) -> float:
        """When so many bytes may leave, and the wire is theirs."""
        with self._lock:
            begin = max(time.monotonic(), self._until)
            self._until = begin + (count / self.bandwidth if self.bandwidth else 0.0)
            return begin


@dataclass(slots=True)
class Lane:
    """One connection of a wire."""

    wire: Wire
    _until: float = 0.0
    _window: int = _FIRST_WINDOW
    _in_window: int = 0

    def answer(self) -> None:
        """Wait as long as a question and the first byte of its answer take."""
        self.wire.closing.wait(self.wire.latency)

    def send(self, count: int) -> None:
        """Wait until so many bytes have gone over the wire."""
        own = max(time.monotonic(), self._until)
        self._until = own + (count / self.wire.per_connection if self.wire.per_connection else 0.0)
        self.wire.closing.wait(max(0.0, max(self.wire.turn(count), own) - time.monotonic()))
        if self.wire.slow_start and self.wire.latency:
            self._grow(count)

    def _grow(self, count: int) -> None:
        self._in_window += count
        while self._in_window >= self._window:
            self._in_window -= self._window
            self._window *= 2
            self.wire.closing.wait(self.wire.latency)
