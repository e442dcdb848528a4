"""What a benchmark prints, kept as values too: tables in Markdown on the screen, the same as JSON in the file of `--out`.

The file is written anew with each line, so that one that is cut short leaves what it has measured.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass
class Printed:
    """Lines of the benchmark `what`, printed and, with `path`, written."""

    what: str
    path: Path | None = None
    lines: list[str] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)
    _started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    _load: float = field(default_factory=lambda: os.getloadavg()[0])

    def say(self, text: str = "") -> None:
        """Print one or more lines."""
        print(text, flush=True)
        self.lines += text.split("\n")
        if self.path is not None:
            self.path.write_text(json.dumps(self.values(), indent=1) + "\n")

    def values(self) -> dict[str, Any]:
        """What was printed, where, and how long it took; `load` is that of the machine when it began."""
        return {
            "benchmark": self.what,
            "started": self._started,
            "seconds": round(time.monotonic() - self._began, 1),
            "cores": len(os.sched_getaffinity(0)),
            "load": round(self._load, 1),
            "machine": f"{platform.platform()}, {_processor()}",
            "python": platform.python_version(),
            "tables": list(tables_of(self.lines)),
            "text": [line for line in self.lines if line and not line.startswith("|")],
        }


def tables_of(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The tables of a Markdown text: headings and rows."""
    table: dict[str, Any] | None = None
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if table is not None and cells is None:
            yield table
            table = None
        elif cells is not None and table is None:
            table = {"headings": cells, "rows": []}
        elif cells is not None and table is not None and not line.startswith("|---"):
            table["rows"].append(cells)
    if table is not None:
        yield table


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
