"""A batch in a process of its own, which is killed now and then; and what must be true all the same.

Each trial writes a line into a file of its own accord, so that those are counted whose end nobody has seen.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as ET

from sqlalchemy import func, select

from bisect_tool.reports import events
from bisect_tool.runs.batch.folder import JUNIT, SUMMARY
from bisect_tool.store import tables
from tests.rig.direct_batches import DirectBatches, direct_batches, failing

BUILDS = 6
BROKEN = {"appeared": range(4, BUILDS), "fixed": range(2)}
# A trial runs in PLACE/cache/trials/NAME/run/work.
SCRIPT = "import torch\nopen('../../../../../ran', 'a').write('{name}\\n')\ntorch.run('{name}')\n"


@dataclass(frozen=True)
class KilledBatches:
    """Batches over the same specs and builds; each `place` is a cache and a folder of results."""

    root: DirectBatches

    def place(self, name: str) -> DirectBatches:
        """A new place with the same specs."""
        folder = self.root.folder / name
        folder.mkdir()
        (folder / "specs").symlink_to(self.root.specs)
        return replace(self.root, folder=folder)

    def start(self, place: DirectBatches, die_at: int = 0) -> subprocess.Popen[str]:
        """The batch in a process that kills itself when trial number `die_at` of it begins; 0: never."""
        words = [sys.executable, "-m", "tests.rig.killed_batches", place.folder, place.index.url, die_at]
        return subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def status(self, place: DirectBatches, die_at: int = 0) -> int:
        """The same, to its end; gives its status."""
        process = self.start(place, die_at)
        process.communicate(timeout=300)
        return process.returncode

    def ran(self, place: DirectBatches) -> int:
        """How many trials have begun."""
        path = place.folder / "ran"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def stored(self, place: DirectBatches) -> int:
        """How many are in the store."""
        results = place.workshop().results()
        with results.engine.connect() as connection:
            count = connection.execute(select(func.count()).select_from(tables.trials)).scalar_one()
        results.close()
        return int(count)

    def answers(self, place: DirectBatches) -> dict[str, object]:
        """What is answered of each spec, as its line in the summary and its own report say alike."""
        found: dict[str, object] = {}
        for name, line in place.lines().items():
            report = json.loads((place.out / (line.folder or "") / "report.json").read_text())
            assert report["outcome"] == line.outcome
            found[name] = (
                line.outcome,
                [(one.name, one.last_without, one.first_with, one.first_without) for one in line.changes],
            )
        return found

    def check(self, place: DirectBatches) -> None:
        """What a killed batch leaves: whole files, and no spec told of twice."""
        if (place.out / SUMMARY).exists():
            place.lines()
        if (place.out / JUNIT).exists():
            ET.parse(place.out / JUNIT)


@contextmanager
def killed_batches(folder: Path) -> Iterator[KilledBatches]:
    """Two specs over six builds."""
    with direct_batches(folder) as root:
        root.publish(BUILDS, failing(BROKEN))
        for name in BROKEN:
            root.spec(name, script=SCRIPT.format(name=name))
        yield KilledBatches(root)


def child(words: list[str]) -> None:
    """Run the batch of a place: `words` are its folder, the address of the index, and the trial at which it kills itself."""
    folder, url, die_at = Path(words[0]), words[1], int(words[2])
    begun = [0]

    def hear(event: events.Event) -> None:
        begun[0] += isinstance(event, events.TrialStarted)
        if die_at and begun[0] == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    class Served:
        """An index that another process serves."""

        def __init__(self) -> None:
            self.url = url

    DirectBatches(folder, Served(), alone=1).run(hear=hear)  # type: ignore[arg-type]


def load() -> None:
    """Load whatever a batch loads on its way: by one batch, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as name, killed_batches(Path(name)) as batches:
        batches.place("first").run()


if __name__ == "__main__":
    child(sys.argv[1:])
