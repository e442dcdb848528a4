"""The same batch with 1, 2, 4 and 8 slots on the CPU: 8 specs over 366 tiny nightlies, whose trials wait for a second.

A trial that waits takes no core, so that the table shows what the slots share, and not how many cores there are.
"""

from __future__ import annotations

import os
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from tests.benchmarks.batch.nightlies import DAYS, FIRST, Place, plan, specs_in
from tests.benchmarks.printed import Printed
from tests.rig.nightly_index import NightlyIndex

SPECS, SLOTS = 8, (1, 2, 4, 8)
SCRIPT = "import time, torch\ntime.sleep(1)\ntorch.run('{case}')\n"


def main(printed: Printed) -> None:
    """Print the table."""
    alone, specs = 0.0, int(os.environ.get("BISECT_BENCH_SPECS", SPECS))
    printed.say(f"{os.cpu_count()} cores, {specs} specs\n")
    printed.say("| slots | installs | trials | wall | speed-up |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="bisect-batch-") as name, NightlyIndex(plan(specs)) as index:
        index.today = FIRST + timedelta(days=DAYS)
        place = Place(Path(name), index)
        paths = specs_in(place.folder, specs, SCRIPT)
        for jobs in SLOTS:
            began = time.monotonic()
            view = place.run(paths, f"jobs-{jobs}", jobs)
            wall = time.monotonic() - began
            alone = alone or wall
            assert all(line.outcome == "exact" for line in view.lines)
            printed.say(f"| {jobs} | {view.installs} | {view.trials} | {wall:.0f} s | {alone / wall:.1f} |")
