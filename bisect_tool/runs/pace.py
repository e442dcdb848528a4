"""How long things take here: measured as the run goes, for the estimate of the time that is left and the price of a probe."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean

from bisect_tool.search.prices import USUAL_UNPACK

LEAST_FETCHED = 10_000_000  # bytes; less than this says more about the answer time of the index than about its speed


@dataclass(slots=True)
class Pace:
    """Seconds of the installs, downloads and trials so far. `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    _installs: list[float] = field(default_factory=list)
    _unpacks: list[float] = field(default_factory=list)
    _trials: list[float] = field(default_factory=list)
    _steps: int = 0
    _open: dict[str, int] = field(default_factory=dict)
    _since: float = 0.0
    _fetching: float = 0.0
    _fetched: int = 0
    _fetching_now: float = 0.0

    def downloading(self, name: str, size: int | None, *, done: bool) -> None:
        """A file of `size` bytes has begun, or is here; several may be on their way at the same time."""
        if not done:
            self._since = self._since if self._open else self.clock()
            self._open[name] = size or 0
            return
        began = self._open.pop(name, None)
        self._fetched += began or size or 0
        if began is not None and not self._open:
            self._fetching_now += self.clock() - self._since

    def installed(self, seconds: float) -> None:
        """An environment was made; what it took without the downloads is kept apart."""
        self._installs.append(seconds)
        self._unpacks.append(max(0.0, seconds - self._fetching_now))
        self._fetching += self._fetching_now
        self._fetching_now = 0.0
        self._open.clear()

    def ran(self, seconds: float) -> None:
        """A trial has ended."""
        self._trials.append(seconds)

    @property
    def unpack(self) -> float:
        """Seconds to make an environment whose files are here: the mean so far, or what is usual."""
        return fmean(self._unpacks) if self._unpacks else USUAL_UNPACK

    @property
    def speed(self) -> float | None:
        """Bytes a second of all downloads together; None as long as too little was fetched to tell."""
        return self._fetched / self._fetching if self._fetched >= LEAST_FETCHED and self._fetching > 0 else None

    def seconds_left(self, steps: int) -> float | None:
        """An estimate for `steps` more builds; None as long as nothing was measured."""
        if not self._trials:
            return None
        self._steps += 1
        per_build = len(self._trials) / self._steps
        install = fmean(self._installs) if self._installs else 0.0
        return steps * (install + max(1.0, per_build) * fmean(self._trials))
