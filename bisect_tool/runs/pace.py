"""How long things take here: measured as the run goes, for the estimate of the time that is left and the price of a probe."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean

from bisect_tool.search.prices import USUAL_UNPACK

LEAST_FETCHED = 10_000_000  # bytes; less than this says more about the answer time of the index than about its speed


@dataclass(slots=True)
class Pace:
    """Seconds of the installs, downloads and trials so far.

    `unpack`: to make an environment whose files are here, the mean so far, or what is usual.
    """

    unpack: float = USUAL_UNPACK
    _installs: list[float] = field(default_factory=list)
    _unpacks: list[float] = field(default_factory=list)
    _trials: list[float] = field(default_factory=list)
    _steps: int = 0
    _fetching: float = 0.0
    _fetched: int = 0

    def installed(self, seconds: float, fetching: float = 0.0, fetched: int = 0) -> None:
        """An environment was made, in `fetching` of its `seconds` so many bytes were `fetched`."""
        self._installs.append(seconds)
        self._unpacks.append(max(0.0, seconds - fetching))
        self.unpack = fmean(self._unpacks)
        self._fetching += fetching
        self._fetched += fetched

    def ran(self, seconds: float) -> None:
        """A trial has ended."""
        self._trials.append(seconds)

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
