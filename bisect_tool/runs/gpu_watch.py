"""Watching the GPU of a slot: who else uses it, and whether it can still be trusted, before and after each trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bisect_tool.quantities import format_duration, format_size
from bisect_tool.runs.gpus import SICK, Gpu, GpuLost, Nvml, Reading

BUSY = 512 * 2**20  # bytes that others may hold: what a driver and a desktop keep without disturbing anybody
PATIENCE = 5.0  # seconds between two looks at a busy card


@dataclass(frozen=True, slots=True)
class Shared:
    """What others held of a card while a trial ran: bytes of its `total`."""

    others: int
    total: int


@dataclass(slots=True)
class GpuWatch:
    """One card. `wait` is for how many seconds others may keep it busy before a trial runs beside them.

    `sleep` waits so many seconds, and raises `Cancelled` when the work is called off.
    """

    nvml: Nvml
    gpu: Gpu
    wait: float = 0.0
    _errors: int | None = None
    _began: int = 0
    _told: list[str] = field(default_factory=list)

    def begin(self, sleep: Callable[[float], None], tell: Callable[[str], None]) -> None:
        """Before a trial, when nothing of this slot runs on the card. Raises `GpuLost`."""
        reading, waited = self._look(), 0.0
        if self._is_busy(reading) and self.wait:
            self._say(f"{_others(reading)}: waiting for at most {format_duration(self.wait)}", tell)
        while self._is_busy(reading) and waited < self.wait:
            sleep(PATIENCE)
            waited += PATIENCE
            reading = self._look()
        if self._is_busy(reading):
            self._say(f"{_others(reading)}; --wait-for-gpu waits until it is free", tell)
        self._began = reading.used

    def end(self) -> Shared:
        """After a trial, when nothing of this slot runs on the card any more. Raises `GpuLost`."""
        reading = self._look()
        return Shared(max(self._began, reading.used), reading.total)

    def _look(self) -> Reading:
        reading = self.nvml.reading(self.gpu)
        sick = sorted(SICK.intersection(self.nvml.xids(self.gpu)))
        if sick:
            raise GpuLost(f"it reported Xid {', '.join(map(str, sick))}")
        before, self._errors = self._errors, reading.errors
        if before is not None and reading.errors is not None and reading.errors > before:
            raise GpuLost(f"{reading.errors - before} uncorrectable memory errors were counted during a trial")
        return reading

    def _is_busy(self, reading: Reading) -> bool:
        return reading.used > BUSY

    def _say(self, text: str, tell: Callable[[str], None]) -> None:
        """Each thing once."""
        if text not in self._told:
            self._told.append(text)
            tell(f"{self.gpu.name} {self.gpu.uuid}: {text}")


def _others(reading: Reading) -> str:
    count = f"{reading.processes} other processes" if reading.processes else "others"
    return f"{count} hold {format_size(reading.used)} of its {format_size(reading.total)}"
