"""What bisect itself costs for each trial: `python -m tests.benchmarks.speed.overhead [BUILDS]`.

Toy builds whose environments are there before, and a script that ends at once: what is left of the time, once that of the
processes is taken off, is starting them, judging, storing and deciding. The figure is the `own_s` of the report.
"""

from __future__ import annotations

import json
import platform
import resource
import sys
import tempfile
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
    """Of one run: trials, seconds of bisect itself, seconds of processor time of the tool and everything that it started."""

    slots: int
    trials: int
    own: float
    total: float
    processor: float


def measure(place: Place, builds: int, slots: int, number: int) -> Measured:
    """One run with environments that are all there but for the first time."""
    script = SCRIPT.format(change=builds * 2 // 3, number=number)
    spec = place.spec("overhead", script=script, from_="1.0")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer: dict[str, Any] = place.answer("run", spec, "--ahead", "off", "--jobs", str(slots), "--fresh")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    time = answer["time"]
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(slots, time["trials"], time["own_s"], time["total_s"], processor)


def main(builds: int = 60) -> None:
    """Print a line for each number of slots, and the machine."""
    print(json.dumps({"machine": platform.platform(), "builds": builds}))
    with tempfile.TemporaryDirectory() as folder:
        wheels = Path(folder) / "wheels"
        wheels.mkdir()
        with serve(wheels) as index:
            place = Place(Path(folder), index)
            place.publish(history(builds, failing(range(builds * 2 // 3, builds))))
            measure(place, builds, 1, 0)  # makes the environments
            print("slots  trials  seconds  own  own a trial  (target 0.1 s)")
            for number, slots in enumerate((1, 1, 1, 2), start=1):
                found = measure(place, builds, slots, number)
                share = found.own / found.trials
                word = "ok" if share <= TARGET else "above"
                print(
                    f"{found.slots:5}  {found.trials:6}  {found.total:7.2f}  {found.own:.2f}  {share:.3f} s  {word}; "
                    f"processor time of everything {found.processor:.1f} s"
                )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
