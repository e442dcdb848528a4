"""How long things take here: measured as the run goes, for the estimate of the time that is left."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean

from bisect_tool.search.prices import USUAL_UNPACK


@dataclass(slots=True)
class Pace:
    """Seconds of the installs and trials so far."""

    _installs: list[float] = field(default_factory=list)
    _trials: list[float] = field(default_factory=list)
    _steps: int = 0

    def installed(self, seconds: float) -> None:
        """An environment was made."""
        self._installs.append(seconds)

    def ran(self, seconds: float) -> None:
        """A trial has ended."""
        self._trials.append(seconds)

    @property
    def unpack(self) -> float:
        """Seconds to make an environment: the mean so far, or what is usual."""
        return fmean(self._installs) if self._installs else USUAL_UNPACK

    def seconds_left(self, steps: int) -> float | None:
        """An estimate for `steps` more builds; None as long as nothing was measured."""
        if not self._trials:
            return None
        self._steps += 1
        per_build = len(self._trials) / self._steps
        install = fmean(self._installs) if self._installs else 0.0
        return steps * (install + max(1.0, per_build) * fmean(self._trials))
