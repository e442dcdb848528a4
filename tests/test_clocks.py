"""The clock of a host may jump: it is asked where time is shown to people, or counts in days or hours, nowhere else.

What takes how long, and who waits for whom, is counted by clocks that never go back; leases go by that of the database.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "bisect_tool"
ASKS = re.compile(r"\btime\.time(_ns)?\(|\bdatetime\.(now|utcnow|today)\(|\bdate\.today\(")
SHOWN = {
    "environments/marks.py": "when an environment was changed, for people",
    "runs/batch/folder.py": "when an answer ended: of two shards that tell of one spec the later one counts",
    "runs/run.py": "when a run started, for its report",
    "runs/trying/attempting.py": "what a listing is asked as of",
    "runs/trying/shell.py": "likewise",
    "runs/doctor/place.py": "whether the clock of the host is right",
    "store/records.py": "when a trial was stored, for people",
}
AGES = {
    "builds/channels/nightly.py": "answers of the index, which count for days; those from the future do not",
    "trials/temporary.py": "folders that nobody holds: one made a minute ago may not be held yet",
    "runs/recent.py": "listings, which count for an hour; those from the future do not",
}


def test_nothing_else_asks_the_clock_of_the_host() -> None:
    asking = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "service" not in path.relative_to(PACKAGE).parts and ASKS.search(path.read_text())
    }
    assert asking == SHOWN.keys() | AGES.keys()


@pytest.mark.parametrize("line", ["now = time.time()", "x = datetime.now(UTC)", "date.today()", "time.time_ns()"])
def test_such_a_line_would_be_found(line: str) -> None:
    assert ASKS.search(line)
