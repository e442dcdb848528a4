"""What bisect itself costs for each trial: `python -m tests.benchmarks.speed.overhead [BUILDS]`.

Toy builds whose environments are there before, and a script that ends at once: what is left of the time, once that of the
processes is taken off, is starting them, judging, storing and deciding. `own` is the `own_s` of the report. On a machine that
does other work at the same time the processor time says more: that of the run, less that of the same run when everything is
known already, less that of the same script started as often without bisect.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.conftest import Place, failing, history
from tests.rig.index import serve

TARGET = 0.1  # seconds
SCRIPT = (
    "import toy, sys\nif int(toy.__version__.split('.')[1]) >= {change}:\n    raise RuntimeError('late')\n# {number}\n"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one run: trials, seconds in all, of bisect itself, and its processor time for all trials together."""

    slots: int
    trials: int
    own: float
    total: float
    processor: float


def measure(place: Place, builds: int, slots: int, number: int) -> Measured:
    """One run with environments that are all there but for the first time."""
    script = SCRIPT.format(change=builds * 2 // 3, number=number)
    spec = place.spec("overhead", script=script, from_="1.0")
    words = ("run", spec, "--ahead", "off", "--jobs", str(slots))
    answer, processor = _timed(lambda: place.answer(*words, "--fresh"))
    _, known = _timed(lambda: place.answer(*words))
    time = answer["time"]
    python = next((place.cache / "environments").glob("toy-1.0-*/venv/bin/python"))
    _, plain = _timed(lambda: [subprocess.run([python, spec.parent / "repro.py"], check=True) for _ in range(5)])
    own = processor - known - plain / 5 * time["trials"]
    return Measured(slots, time["trials"], time["own_s"], time["total_s"], own)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` gives, and the processor time of the processes that it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(builds: int = 60) -> None:
    """Print a line for each number of slots, and the machine."""
    load = f"{os.getloadavg()[0]:.1f}"
    print(json.dumps({"machine": platform.platform(), "cores": os.cpu_count(), "load": load, "builds": builds}))
    with tempfile.TemporaryDirectory() as folder:
        wheels = Path(folder) / "wheels"
        wheels.mkdir()
        with serve(wheels) as index:
            place = Place(Path(folder), index)
            place.publish(history(builds, failing(range(builds * 2 // 3, builds))))
            measure(place, builds, 1, 0)  # makes the environments
            print(f"slots  trials  seconds  own a trial  processor time a trial  (target {TARGET} s)")
            for number, slots in enumerate((1, 1, 1, 2), start=1):
                found = measure(place, builds, slots, number)
                wall, processor = found.own / found.trials, found.processor / found.trials
                print(f"{found.slots:5}  {found.trials:6}  {found.total:7.2f}  {wall:9.3f} s  {processor:20.3f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
