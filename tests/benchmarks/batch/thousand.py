"""1,000 specs over 400 builds, of whose 400,000 verdicts the store has nine in ten: how long the tool itself takes.

A trial is over in the moment in which it begins, and so is an installation: what is measured is reading specs, planning,
loading what is known, deciding, storing and writing the results.
"""

from __future__ import annotations

import json
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlalchemy import insert

from bisect_tool.builds.build import Installation
from bisect_tool.builds.channel import names
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.environment import Environment, EnvironmentKey, Environments, Step
from bisect_tool.environments.health import Health
from bisect_tool.environments.uv import find_uv
from bisect_tool.reports.batch.counts import Counts, counts_of
from bisect_tool.reports.batch.progress import BatchView
from bisect_tool.runs.asking import Asked, ask
from bisect_tool.runs.batch.batch import Batch
from bisect_tool.runs.batch.finding import Member, find, read_members
from bisect_tool.runs.batch.folder import ResultsFolder
from bisect_tool.runs.executors import local
from bisect_tool.runs.judging import as_values
from bisect_tool.runs.run import Workshop
from bisect_tool.runs.surveying import Wishes
from bisect_tool.runs.surveys import Surveys
from bisect_tool.settings import read_settings
from bisect_tool.spec.repro import case_digest
from bisect_tool.store import tables
from bisect_tool.store.results import Results
from bisect_tool.trials.observation import Observation, Raised
from bisect_tool.trials.trial import FinishedTrial, TrialOrder
from tests.rig.index import serve
from tests.rig.toy import ToyBuild, day, toy_package

SPECS, BUILDS, KNOWN = 1000, 400, 0.9
ROWS = 5000  # of the store, written at once


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
    seconds: dict[str, float] = field(default_factory=dict)

    def workshop(self) -> Workshop:
        """With its settings."""
        cache = open_cache(self.folder / "cache")
        settings = read_settings({"cache": cache.root, "index": self.index}, {}, self.folder)
        return _InstantWorkshop(settings, cache, find_uv(cache.uv, {}), {})

    def members(self) -> list[Member]:
        """All specs, read."""
        return read_members(find([self.folder / "specs"])[0], channels=names(), changes={})

    def answer(self, out: str) -> Counts:
        """The whole batch."""
        with patch.object(local, "run_trial", self._ran):
            folder = ResultsFolder(self.folder / out, title="benchmark")
            return counts_of(Batch(self.workshop(), self.members(), Wishes(), folder, BatchView()).run())

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
    """The specs and the builds; each failure appears somewhere, and every fifth is gone again later."""
    rng, broken = random.Random(0), []
    for number in range(specs):
        first = rng.randrange(1, builds - 1)
        broken.append(range(first, rng.randrange(first + 1, builds) if number % 5 == 0 else builds))
        place = folder / "specs" / f"{number:04}"
        place.mkdir(parents=True)
        spec = {"name": f"s{number:04}", "package": "toy", "channel": "release", "device": "cpu", "from": "1.0"}
        (place / "spec.yaml").write_text(
            "\n".join(f"{key}: '{value}'" for key, value in spec.items()) + "\nscript: repro.py\n"
        )
        (place / "repro.py").write_text(f"# {number}\nimport toy\n")
    toy_package(wheels, "toy", [ToyBuild(f"1.{number}", uploaded=day(number + 1)) for number in range(builds)])
    return Place(folder, index, broken)


def fill(place: Place, share: float) -> int:
    """Store a trial of so many of all pairs of spec and build; gives how many."""
    workshop, rng, surveys = place.workshop(), random.Random(1), Surveys()
    means, results = workshop.means(), workshop.results()
    rows: list[dict[str, Any]] = []
    count = 0
    for number, member in enumerate(place.members()):
        assert member.read is not None
        asked = ask(member.read, Wishes(), means, surveys=surveys)
        rows += _rows(place, asked, number, rng, share)
        if len(rows) >= ROWS:
            count += _store(results, rows)
    count += _store(results, rows)
    results.close()
    return count


def _rows(place: Place, asked: Asked, number: int, rng: random.Random, share: float) -> Iterator[dict[str, Any]]:
    case, repro = asked.spec.cases[0], asked.repro.digest
    digest, setting = case_digest(case, asked.spec), asked.setting_of(0)
    for build, one in enumerate(asked.builds):
        if rng.random() < share:
            yield {
                "repro": repro, "case_digest": digest, "identity": one.identity, "setting": setting,
                "device": asked.device.kind, "case_name": case.name, "package": "toy", "version": one.version,
                "observation": as_values(place.observation(number, build)), "folder": f"trials/{number}-{build}",
                "command": "python repro.py", "finished": "2026-11-30T12:00:00+00:00", "duration": 2.0,
            }  # fmt: skip


def _store(results: Results, rows: list[dict[str, Any]]) -> int:
    count = len(rows)
    if rows:
        with results.engine.begin() as connection:
            connection.execute(insert(tables.trials), rows)
        rows.clear()
    return count


@contextmanager
def prepared(specs: int = SPECS, builds: int = BUILDS, share: float = KNOWN) -> Iterator[tuple[Place, int]]:
    """A place whose store has that share of all verdicts, and how many those are."""
    with tempfile.TemporaryDirectory(prefix="bisect-batch-") as name:
        folder = Path(name)
        (folder / "wheels").mkdir()
        with serve(folder / "wheels") as index:
            place = make(folder, index.url, folder / "wheels", specs, builds)
            yield place, fill(place, share)


def main() -> None:
    """Print the table."""
    specs = int(os.environ.get("BISECT_BENCH_SPECS", SPECS))
    print("| | specs | known | trials | wall | CPU | peak memory |\n|---|---|---|---|---|---|---|")
    with prepared(specs) as (place, known):
        for what in ("first", "again"):
            began, before = time.monotonic(), _cpu()
            counts = place.answer("results")
            wall, cpu = time.monotonic() - began, _cpu() - before
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"| {what} | {counts.specs} | {known} | {counts.trials} | {wall:.1f} s | {cpu:.1f} s | {peak:.0f} MB |"
            )
            assert counts.exact == specs, json.dumps(_values(counts))


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _values(counts: Counts) -> Mapping[str, int]:
    return {name: getattr(counts, name) for name in counts.__slots__}
