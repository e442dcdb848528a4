"""20 specs over 366 nightlies of some kilobytes: one batch against 20 single runs, each with a cache of its own.

Environments are unpacked without uv, so that a table takes minutes; what is counted does not depend on that.
"""

from __future__ import annotations

import json
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

from bisect_tool.builds.channel import names
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.uv import find_uv
from bisect_tool.reports import events
from bisect_tool.reports.batch.line import SpecLine
from bisect_tool.reports.batch.progress import BatchView
from bisect_tool.runs.batch.batch import Batch
from bisect_tool.runs.batch.finding import find, read_members
from bisect_tool.runs.batch.folder import ResultsFolder
from bisect_tool.runs.device import Device
from bisect_tool.runs.surveying import Wishes
from bisect_tool.settings import read_settings
from tests.benchmarks.printed import Printed
from tests.rig.direct_environments import DirectWorkshop
from tests.rig.nightly_index import Change, NightlyIndex, NightlyPlan

SPECS, DAYS, FIRST = 20, 366, date(2025, 6, 1)


@dataclass
class Counting(BatchView):
    """Counts what is installed and run."""

    installs: int = 0
    trials: int = 0
    lines: list[SpecLine] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def __call__(self, event: events.Event) -> None:
        """Count it."""
        self.installs += isinstance(event, events.Installed) and not event.cached
        self.trials += isinstance(event, events.TrialFinished)


@dataclass(frozen=True)
class Place:
    """Specs and an index in `folder`."""

    folder: Path
    index: NightlyIndex

    def run(self, paths: Sequence[Path], cache: str, jobs: int = 1) -> Counting:
        """One batch of these specs with a new cache."""
        where = open_cache(self.folder / cache)
        flags = {
            "cache": where.root,
            "nightly_index": self.index.address,
            "index": self.index.default_index,
            "jobs": jobs,
        }
        more = {"github_api": "http://127.0.0.1:9", "jobs": jobs, "ahead": "off"}  # direct environments know no locks
        settings = read_settings({**flags, **more}, {}, self.folder)
        workshop = DirectWorkshop(settings, where, find_uv(where.uv, {}), {}, device=Device("cpu", "cpu"))
        members = read_members(find(paths)[0], channels=names(), changes={})
        view = Counting()
        results = ResultsFolder(self.folder / f"{cache}-results", title="benchmark")
        view.lines = Batch(workshop, members, Wishes(), results, view).run()
        return view


def specs_in(folder: Path, count: int, script: str = "import torch\ntorch.run('{case}')\n") -> list[Path]:
    """So many specs, over the whole year."""
    paths = []
    for number in range(count):
        place = folder / "specs" / f"s{number:02}"
        place.mkdir(parents=True)
        last = FIRST + timedelta(days=DAYS - 1)
        spec = {
            "name": f"s{number:02}", "channel": "nightly", "variant": "cpu", "device": "cpu", "flaky": "no",
            "from": str(FIRST), "to": str(last), "script": "repro.py",
        }  # fmt: skip
        (place / "repro.py").write_text(script.format(case=f"c{number}"))
        (place / "spec.yaml").write_text(json.dumps(spec))
        paths.append(place / "spec.yaml")
    return paths


def plan(count: int) -> NightlyPlan:
    """A year of nightlies in which every case breaks one day."""
    rng = random.Random(0)
    days = [FIRST + timedelta(days=rng.randrange(1, DAYS)) for _ in range(count)]
    changes = tuple(Change(f"c{number}", day, f"RuntimeError: c{number} broke") for number, day in enumerate(days))
    return NightlyPlan(
        first=FIRST, last=FIRST + timedelta(days=DAYS - 1), variants=("cpu",), pythons=("cp311",), changes=changes
    )


def main(printed: Printed) -> None:
    """Print the table."""
    count = int(os.environ.get("BISECT_BENCH_SPECS", SPECS))
    printed.say("| | specs | installs | trials | wall | CPU |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="bisect-batch-") as name, NightlyIndex(plan(count)) as index:
        index.today = FIRST + timedelta(days=DAYS)
        place = Place(Path(name), index)
        paths = specs_in(place.folder, count)
        _print(printed, "one batch", count, lambda: [place.run(paths, "together")])
        _print(printed, "single runs", count, lambda: [place.run([path], path.parent.name) for path in paths])


def _print(printed: Printed, what: str, count: int, run: Callable[[], list[Counting]]) -> None:
    began, before = time.monotonic(), cpu()
    views = run()
    wall, took = time.monotonic() - began, cpu() - before
    assert all(line.outcome == "exact" for view in views for line in view.lines)
    installs, trials = sum(view.installs for view in views), sum(view.trials for view in views)
    printed.say(f"| {what} | {count} | {installs} | {trials} | {wall:.0f} s | {took:.0f} s |")


def cpu() -> float:
    """Seconds of this process and of its children."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
