"""Searches over toy builds of a moment each, in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bisect_tool.builds.channel import names
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.uv import find_uv
from bisect_tool.reports.report import Report
from bisect_tool.runs.device import Device
from bisect_tool.runs.run import run_specs
from bisect_tool.runs.surveying import Wishes
from bisect_tool.search.policy import Policy
from bisect_tool.settings import read_settings
from bisect_tool.spec.reading import ReadSpec, load_all
from tests.rig.direct_environments import DirectWorkshop
from tests.rig.index import Index, serve
from tests.rig.toy import ToyBuild, day, toy_package


@dataclass(frozen=True)
class DirectRuns:
    """A cache, an index and a spec in one folder. The distribution is `toy`, its module is called `torch`."""

    folder: Path
    index: Index

    def search(self, script: str, *, policy: Policy | None = None, **keys: Any) -> Report:
        """The report on `script`, with a spec that has these `keys` too."""
        wishes = Wishes(policy=policy) if policy else Wishes()
        (report,) = run_specs(self.workshop(), [self.spec(script, **keys)], wishes, lambda _event: None)
        return report

    def spec(self, script: str, **keys: Any) -> ReadSpec:
        """The spec with `script` as its repro."""
        base = {
            "name": "toy", "package": "toy", "channel": "release", "device": "cpu", "script": "repro.py", "flaky": "no",
            "from": "1.0",
        }  # fmt: skip
        (self.folder / "repro.py").write_text(script)
        path = self.folder / "spec.yaml"
        path.write_text(json.dumps({**base, **keys}))
        (read,) = load_all([path], channels=names())
        return read

    def workshop(self) -> DirectWorkshop:
        """A workshop on the CPU."""
        cache = open_cache(self.folder / "cache")
        settings = read_settings({"cache": cache.root, "index": self.index.url}, {}, self.folder)
        return DirectWorkshop(settings, cache, find_uv(cache.uv, {}), {}, device=Device("cpu", "cpu"))

    def trials(self) -> list[dict[str, Any]]:
        """What was seen by each trial, oldest first."""
        return [json.loads((folder / "observation.json").read_text()) for folder in self.folders()]

    def folders(self) -> list[Path]:
        """The folders of the trials, oldest first."""
        return sorted((self.folder / "cache" / "trials").iterdir(), key=lambda path: path.stat().st_mtime_ns)


@contextmanager
def direct_runs(folder: Path, builds: int) -> Iterator[DirectRuns]:
    """Over the builds 1.0, 1.1 … of `toy`."""
    (folder / "wheels").mkdir()
    history = [ToyBuild(f"1.{number}", uploaded=day(number + 1)) for number in range(builds)]
    toy_package(folder / "wheels", "toy", history, module="torch")
    with serve(folder / "wheels") as index:
        yield DirectRuns(folder, index)


def ends(report: Report) -> list[tuple[str | None, str | None, str]]:
    """The beginnings of all episodes: last build without, first with, how sure."""
    return [
        (episode.appeared.last_without, episode.appeared.first_with, episode.appeared.kind)
        for failure in report.failures
        for episode in failure.episodes
    ]
