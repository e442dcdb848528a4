"""How many streams fetch a file: one, and one more for as long as each makes it faster."""

from __future__ import annotations

from dataclasses import dataclass

WINDOW = 2.0  # seconds over which speed is measured; the first window after a change is not counted
WORTH = 1.15  # a stream stays when it makes the download so much faster


@dataclass(slots=True)
class Growth:
    """Decides on the number of `streams`, at most `limit`. Moments are in seconds, of any clock that only goes forward."""

    limit: int
    streams: int = 1
    _since: float | None = None
    _bytes: int = 0
    _warm: bool = False
    _before: float = 0.0
    _settled: bool = False

    def note(self, count: int, now: float) -> None:
        """So many bytes came in, until `now`."""
        if self._since is None:
            self._since = now
        self._bytes += count
        if self._settled or now - self._since < WINDOW:
            return
        speed, self._bytes, self._since = self._bytes / (now - self._since), 0, now
        if not self._warm:
            self._warm = True
            return
        self._decide(speed)

    def _decide(self, speed: float) -> None:
        if speed < self._before * WORTH:
            self.streams, self._settled = max(1, self.streams - 1), True
        elif self.streams >= self.limit:
            self._settled = True
        else:
            self.streams, self._before, self._warm = self.streams + 1, speed, False

    def shrink(self) -> None:
        """The server asked for less: one stream fewer, and no more from now on."""
        self.streams = self.limit = max(1, self.streams - 1)
        self._settled = True
