"""Batches over toy builds of a moment each, in this process; the distribution is `toy`, its module is called `torch`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bisect_tool.builds.channel import names
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.uv import find_uv
from bisect_tool.reports import events
from bisect_tool.reports.batch.line import SpecLine
from bisect_tool.reports.batch.progress import BatchView
from bisect_tool.runs.batch.batch import Batch
from bisect_tool.runs.batch.finding import Member, find, read_members
from bisect_tool.runs.batch.folder import ResultsFolder, read_lines
from bisect_tool.runs.batch.scribe import ALONE, Scribe
from bisect_tool.runs.batch.since import read_since
from bisect_tool.runs.device import Device
from bisect_tool.runs.surveying import Wishes
from bisect_tool.settings import read_settings
from tests.rig.direct_environments import DirectWorkshop
from tests.rig.index import Index, serve
from tests.rig.toy import ToyBuild, day, toy_package

Hear = Callable[[events.Event], None]


class Listener(BatchView):
    """Hands every event on."""

    def __init__(self, hear: Hear) -> None:
        super().__init__()
        self.hear = hear

    def __call__(self, event: events.Event) -> None:
        """Hear it."""
        super().__call__(event)
        self.hear(event)


@dataclass
class DirectBatches:
    """A cache, an index and specs in one folder. `flags` are settings as of the command line, `environ` the variables of a run.

    `alone`: so many specs are written by this process, the others by another one.
    """

    folder: Path
    index: Index
    flags: dict[str, object] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    view: BatchView = field(default_factory=BatchView)
    alone: int = ALONE

    @property
    def specs(self) -> Path:
        """Where `spec` puts them."""
        return self.folder / "specs"

    @property
    def out(self) -> Path:
        """The results."""
        return self.folder / "results"

    def publish(self, count: int, behaviour: Mapping[int, Mapping[str, Any]]) -> None:
        """The builds 1.0, 1.1 …, each with the behaviour under its number."""
        builds = [
            ToyBuild(f"1.{number}", behaviour.get(number, {}), uploaded=day(number + 1)) for number in range(count)
        ]
        toy_package(self.index.folder, "toy", builds, module="torch")

    def spec(self, place: str, *, script: str | None = None, **keys: Any) -> Path:
        """A spec in a folder of that name, which it has too; it runs the case called so, from 1.0 to the newest build."""
        base = {"name": place, "package": "toy", "channel": "release", "device": "cpu", "flaky": "no", "from": "1.0"}
        folder = self.specs / place
        folder.mkdir(parents=True)
        base |= {} if "command" in keys else {"script": "repro.py"}
        (folder / "repro.py").write_text(script or f"import torch\ntorch.run({place!r})\n")
        path = folder / "spec.yaml"
        path.write_text(json.dumps({**base, **{key.rstrip("_"): value for key, value in keys.items()}}))
        return path

    def members(self, *paths: Path) -> list[Member]:
        """The specs of these paths, else all."""
        return read_members(find(paths or [self.specs])[0], channels=names(), changes={})

    def workshop(self) -> DirectWorkshop:
        """The workshop that every run here has."""
        cache = open_cache(self.folder / "cache")
        own = {"cache": cache.root, "index": self.index.url, "ahead": "off"}  # direct environments know no locks
        settings = read_settings({**own, **self.flags}, {}, self.folder)
        return DirectWorkshop(settings, cache, find_uv(cache.uv, {}), self.environ, device=Device("cpu", "cpu"))

    def run(
        self, *, since: str | None = None, out: Path | None = None, hear: Hear | None = None
    ) -> dict[str, SpecLine]:
        """Run all specs; gives the lines as they are in the folder, by name."""
        out, members, workshop = out or self.out, self.members(), self.workshop()
        earlier = None
        if since is not None:
            results = workshop.results()
            earlier = read_since(since, members, out, results)
            results.close()
            members, _ = earlier.members(members)
        view = self.view if hear is None else Listener(hear)
        Batch(workshop, members, Wishes(), ResultsFolder(out, "batch"), view, earlier, Scribe(self.alone)).run()
        return self.lines(out)

    def lines(self, out: Path | None = None) -> dict[str, SpecLine]:
        """What the folder says; a name that it tells of twice is a mistake."""
        found = read_lines(out or self.out)
        assert len({line.name for line in found}) == len(found)
        return {line.name: line for line in found}


@contextmanager
def direct_batches(folder: Path) -> Iterator[DirectBatches]:
    """With an index that serves what is published."""
    (folder / "wheels").mkdir()
    with serve(folder / "wheels") as index:
        yield DirectBatches(folder, index)


def failing(cases: Mapping[str, Sequence[int]]) -> dict[int, dict[str, str]]:
    """Behaviours by the number of the build: each case fails in these, by an error that names it."""
    found: dict[int, dict[str, str]] = {}
    for case, numbers in cases.items():
        for number in numbers:
            found.setdefault(number, {})[case] = f"RuntimeError: {case} is broken"
    return found
