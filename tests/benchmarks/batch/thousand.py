"""1,000 specs over 400 builds, with a store that has nothing, nine in ten, or all of the verdicts that they need.

A trial is over in the moment in which it begins, and so is an installation: what is measured is reading specs, planning,
loading what is known, deciding, storing and writing the results.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlalchemy import delete, select

from bisect_tool.builds.build import Installation
from bisect_tool.builds.channel import names
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.environment import Environment, EnvironmentKey, Environments, Step
from bisect_tool.environments.health import Health
from bisect_tool.environments.uv import find_uv
from bisect_tool.reports.batch.counts import Counts, counts_of
from bisect_tool.reports.batch.progress import BatchView
from bisect_tool.runs.batch.batch import Batch
from bisect_tool.runs.batch.finding import Member, find, read_members
from bisect_tool.runs.batch.folder import ResultsFolder
from bisect_tool.runs.batch.scribe import Ended, Scribe, Sheet
from bisect_tool.runs.executors import local
from bisect_tool.runs.surveying import Wishes
from bisect_tool.runs.workshop import Workshop
from bisect_tool.settings import read_settings
from bisect_tool.store import database, tables
from bisect_tool.trials.observation import Observation, Raised
from bisect_tool.trials.trial import FinishedTrial, TrialOrder
from tests.benchmarks.printed import Printed
from tests.rig.index import serve
from tests.rig.toy import ToyBuild, day, toy_package

SPECS, BUILDS, KNOWN = 1000, 400, 0.9
ROWS = 5000  # of the store, written at once
PART = 100  # specs that one process fills the store for at a time


class _NoFiles(Scribe):
    """Writes nothing."""

    def write(self, sheet: Sheet, ended: Ended) -> None:  # noqa: ARG002
        """It is there."""
        ended(None)


@contextmanager
def _careless_commits() -> Iterator[None]:
    """Databases that are opened meanwhile do not wait for the disk."""
    own = database._set_up

    def set_up(connection: Any, record: object) -> None:
        own(connection, record)
        connection.execute("PRAGMA synchronous=OFF")

    with patch.object(database, "_set_up", set_up):
        yield


class _Instant(Environments):
    """Environments that are there at once, and proven."""

    @contextmanager
    def use(
        self,
        key: EnvironmentKey,
        install: Callable[[], Installation],  # noqa: ARG002  as in Environments
        *,
        device: str,  # noqa: ARG002
        as_of: datetime | None,  # noqa: ARG002
        tell: Callable[[Step], None] = lambda _step: None,  # noqa: ARG002
    ) -> Iterator[Environment]:
        """One that is empty."""
        health = Health(key.build.version, None, key.interpreter.version, {}, {})
        yield Environment(self.cache.environments / key.build.version, health, cached=True)


@dataclass(frozen=True)
class _InstantWorkshop(Workshop):
    def environments(self) -> Environments:
        """Instant ones."""
        return _Instant(self.cache, self.uv, self.environ)


@dataclass
class Place:
    """Specs, an index and a cache in `folder`. Spec number n fails on the builds of `broken[n]`."""

    folder: Path
    index: str
    broken: list[range]

    def workshop(self) -> Workshop:
        """With its settings."""
        cache = open_cache(self.folder / "cache")
        # What is there at once is not made ahead.
        settings = read_settings({"cache": cache.root, "index": self.index, "ahead": "off"}, {}, self.folder)
        return _InstantWorkshop(settings, cache, find_uv(cache.uv, {}), {})

    def members(self) -> list[Member]:
        """All specs, read."""
        return read_members(find([self.folder / "specs"])[0], channels=names(), changes={})

    def part(self, number: int, of: int) -> Counts:
        """One of several parts of the batch, for what it stores alone: it waits for no disk, and writes no reports."""
        with _careless_commits():
            return self.answer(f"results/{number}", self.members()[number::of], _NoFiles())

    def answer(self, out: str, members: list[Member], scribe: Scribe | None = None) -> Counts:
        """A batch of these specs."""
        with patch.object(local, "run_trial", self._ran):
            folder = ResultsFolder(self.folder / out, title="benchmark")
            return counts_of(
                Batch(self.workshop(), members, Wishes(), folder, BatchView(), scribe=scribe or Scribe()).run()
            )

    def _ran(self, order: TrialOrder, *, programs: Path, folder: Path, **_more: Any) -> FinishedTrial:
        number = int(order.files[0][1].split()[1])
        build = int(programs.parent.parent.name.partition(".")[2])
        folder.mkdir(parents=True)
        (folder / "log.txt").write_text("")
        return FinishedTrial(folder, "python repro.py", self.observation(number, build))

    def observation(self, number: int, build: int) -> Observation:
        """What a trial of a spec on a build leaves."""
        if build not in self.broken[number]:
            return Observation(0, duration=2.0, output=f"fine with 1.{build}\n", output_bytes=16, peak_memory=10**8)
        frames = (("repro.py", "<module>"), ("torch/_inductor/lowering.py", "compute"))
        raised = Raised("RuntimeError", f"spec {number}: gradient is all zero", frames=frames)
        return Observation(1, duration=2.0, output=f"RuntimeError: spec {number}\n", chain=(raised,), peak_memory=10**8)


def make(folder: Path, index: str, wheels: Path, specs: int, builds: int) -> Place:
    """The specs and the builds; each failure appears somewhere, or, every fifth, is fixed somewhere."""
    rng, broken = random.Random(0), []
    for number in range(specs):
        first = rng.randrange(1, builds - 1)
        # What came and went at once could be missed by a search, and all are to be found here.
        broken.append(range(first) if number % 5 == 0 else range(first, builds))
        place = folder / "specs" / f"{number:04}"
        place.mkdir(parents=True)
        spec = {"name": f"s{number:04}", "package": "toy", "channel": "release", "device": "cpu", "from": "1.0"}
        (place / "spec.yaml").write_text(
            "\n".join(f"{key}: '{value}'" for key, value in spec.items()) + "\nscript: repro.py\n"
        )
        (place / "repro.py").write_text(f"# {number}\nimport toy\n")
    toy_package(wheels, "toy", [ToyBuild(f"1.{number}", uploaded=day(number + 1)) for number in range(builds)])
    return Place(folder, index, broken)


def lose(place: Place, share: float) -> int:
    """Remove that share of all trials from the store, drawn by chance; gives how many are left."""
    results, rng = place.workshop().results(), random.Random(1)
    with results.engine.begin() as connection:
        every = list(connection.execute(select(tables.trials.c.id)).scalars())
        lost = rng.sample(every, round(share * len(every)))
        for start in range(0, len(lost), ROWS):
            connection.execute(delete(tables.trials).where(tables.trials.c.id.in_(lost[start : start + ROWS])))
    results.close()
    return len(every) - len(lost)


@contextmanager
def opened(specs: int = SPECS, builds: int = BUILDS) -> Iterator[Place]:
    """A place with an empty store."""
    with tempfile.TemporaryDirectory(prefix="bisect-batch-") as name:
        folder = Path(name)
        (folder / "wheels").mkdir()
        with serve(folder / "wheels") as index:
            yield make(folder, index.url, folder / "wheels", specs, builds)


def main(printed: Printed) -> None:
    """Print the table."""
    specs, fillers = int(os.environ.get("BISECT_BENCH_SPECS", SPECS)), int(os.environ.get("BISECT_BENCH_FILLERS", "1"))
    printed.say(
        "| store | specs | verdicts known | trials made | wall | CPU | of that where it is decided | load | peak memory |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    with opened(specs) as place:
        if fillers > 1:
            fill(place, fillers)
        else:
            _measured(printed, place, "empty", 0)
        _measured(printed, place, "has 90 %", lose(place, 1 - KNOWN))
        _measured(printed, place, "has all", 0)


def fill(place: Place, fillers: int) -> None:
    """What the row "empty" makes, by several processes at once, which is not measured: for machines with many cores."""
    parts = max(fillers, len(place.broken) // PART)
    with ProcessPoolExecutor(fillers, mp_context=get_context("spawn")) as pool:
        for counts in pool.map(place.part, range(parts), [parts] * parts):
            assert counts.exact == counts.specs, counts
    shutil.rmtree(place.folder / "results")


def _measured(printed: Printed, place: Place, what: str, known: int) -> None:
    began, before, own = time.monotonic(), _cpu(), time.process_time()
    counts = place.answer("results", place.members())
    wall, cpu, own = time.monotonic() - began, _cpu() - before, time.process_time() - own
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times = (f"{wall:.1f} s", f"{cpu:.1f} s", f"{own:.1f} s", f"{os.getloadavg()[0]:.0f}")
    row = (what, counts.specs, known or counts.known, counts.trials, *times, f"{peak:.0f} MB")
    printed.say(f"| {' | '.join(map(str, row))} |")
    assert counts.exact == counts.specs, counts


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
