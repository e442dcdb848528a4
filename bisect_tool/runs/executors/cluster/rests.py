"""When slots that found no room on their node are tried again."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

FIRST, LONGEST = 60.0, 600.0  # seconds of a rest: each one is twice as long as the last, until something goes well


@dataclass(slots=True)
class Rests:
    """The slots that rest; usable from several threads. Times are seconds of one clock."""

    first: float = FIRST
    longest: float = LONGEST
    _pauses: dict[int, float] = field(default_factory=dict)
    _due: dict[int, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, slot: int, now: float) -> None:
        """It found no room."""
        with self._lock:
            pause = min(self.longest, 2 * self._pauses[slot]) if slot in self._pauses else self.first
            self._pauses[slot], self._due[slot] = pause, now + pause

    def went_well(self, slot: int) -> None:
        """It found room."""
        with self._lock:
            self._pauses.pop(slot, None)

    def over(self, now: float) -> tuple[int, ...]:
        """Those whose rest is over; each is given once."""
        with self._lock:
            over = tuple(sorted(slot for slot, due in self._due.items() if due <= now))
            for slot in over:
                del self._due[slot]
            return over
