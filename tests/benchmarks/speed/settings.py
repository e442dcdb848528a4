"""What is compared: how long a download and the repro take, and which wheels stand for the nightlies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

NIGHTLIES = 64
FIRST = date(2026, 8, 3)
LAST = FIRST + timedelta(days=NIGHTLIES - 1)
FIRST_BAD = 41  # its place among the nightlies, from 0: the change is neither near an end nor near the middle
VARIANT = "cpu"
LATENCY = 0.02  # seconds to and fro
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Setting:
    """Seconds that the wheel of a nightly takes on the wire, and seconds that the repro sleeps after its import."""

    name: str
    download: float
    sleep: float

    def bandwidth(self, size: int) -> float:
        """Bytes a second, for wheels of so many bytes."""
        return size / self.download


@dataclass(frozen=True, slots=True)
class Wheels:
    """Which wheels: stand-ins with `ballast` bytes that do not shrink, or two real ones (`older` from the first day on)."""

    kind: str
    ballast: int = 0
    older: Path | None = None
    newer: Path | None = None

    def described(self) -> str:
        """For people."""
        if self.older is None or self.newer is None:
            return f"stand-ins of {self.ballast / MEGABYTE:.0f} MB"
        names = sorted({self.older.name, self.newer.name})
        return f"{' and '.join(names)} under the names of nightlies"


# The import of the stand-in takes no time, that of torch some 2 s on a quiet machine: its share of the repro.
STAND_INS = (Setting("quarter", 0.5, 2.0), Setting("equal", 1.2, 1.2), Setting("four", 2.0, 0.5))
REAL = (Setting("quarter", 1.5, 4.0), Setting("equal", 4.0, 2.0), Setting("four", 8.0, 0.0))
TINY = Setting("tiny wheels", 0.01, 2.0)
TOLD = {
    "quarter": "a download takes a quarter of the repro",
    "equal": "a download takes as long as the repro",
    "four": "a download takes four times as long as the repro",
    "tiny wheels": "wheels of some kB",
}
