"""Runs whose trials are forked where they may be, over toy builds of a moment each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.builds.channel import names
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.uv import find_uv
from bisect_tool.reports.report import Report
from bisect_tool.runs import starting
from bisect_tool.runs.device import Device
from bisect_tool.runs.run import run_specs
from bisect_tool.runs.session import SeenTrial
from bisect_tool.runs.starting import can_be_forked, disagreement
from bisect_tool.runs.surveying import Wishes
from bisect_tool.settings import read_settings
from bisect_tool.spec.model import Case, Metric, Spec
from bisect_tool.spec.reading import load_all
from bisect_tool.trials.failure import Failed, FoundFailure, Passed, Signature, SignatureKind, Verdict
from tests.integration.conftest import history
from tests.rig.direct_environments import DirectWorkshop
from tests.rig.index import Index, serve
from tests.rig.toy import toy_package

COUNT, CHANGE = 9, 6
SCRIPT = """import torch
import os, sys
number = int(torch.__version__.partition(".")[2])
is_forked = "warm_server" in open("/proc/self/cmdline").read()
with open(os.environ["TORCHINDUCTOR_CACHE_DIR"] + "/kernel", "a") as file:
    print("compiled", file=file)
print("found", open(file.name).read().count("compiled"))
if sys.argv[1] == "inductor" and {condition}:
    raise RuntimeError("gradient is all zero")
"""


@dataclass(frozen=True)
class Place:
    folder: Path
    index: Index

    def search(self, condition: str, **keys: Any) -> Report:
        spec = {
            "name": "forks", "package": "toy", "channel": "release", "device": "cpu", "script": "repro.py", "flaky": "no",
            "from": "1.0", "cases": [{"name": one, "args": [one]} for one in ("eager", "inductor")], **keys,
        }  # fmt: skip
        (self.folder / "repro.py").write_text(SCRIPT.format(condition=condition))
        path = self.folder / "spec.yaml"
        path.write_text(json.dumps(spec))
        cache = open_cache(self.folder / "cache")
        settings = read_settings(
            {"cache": cache.root, "index": self.index.url, "github_api": "http://127.0.0.1:9"}, {}, self.folder
        )
        workshop = DirectWorkshop(settings, cache, find_uv(cache.uv, {}), {}, device=Device("cpu", "cpu"))
        (report,) = run_specs(workshop, load_all([path], channels=names()), Wishes(), lambda _event: None)
        return report

    def trials(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted(self.folder.glob("cache/trials/*/observation.json"))]

    def found(self, version: str) -> list[str]:
        """What the trials of the case `inductor` on a build found in their caches, oldest first."""
        folders = sorted((self.folder / "cache" / "trials").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        build = f"toy-{version}-"
        commands = [(folder, (folder / "command.sh").read_text()) for folder in folders]
        return [
            (folder / "log.txt").read_text().split("\n", 1)[0]
            for folder, command in commands
            if build in command and "repro.py inductor" in command
        ]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr(starting, "WORTH", 0.0)  # toy trials are short
    (tmp_path / "wheels").mkdir()
    toy_package(tmp_path / "wheels", "toy", history(COUNT, {}), module="torch")
    with serve(tmp_path / "wheels") as index:
        yield Place(tmp_path, index)


def ends(report: Report) -> list[tuple[str | None, str | None, str]]:
    return [
        (episode.appeared.last_without, episode.appeared.first_with, episode.appeared.kind)
        for failure in report.failures
        for episode in failure.episodes
    ]


def test_forked_trials_find_the_same_and_fresh_ones_confirm_it(place: Place) -> None:
    report = place.search(f"number >= {CHANGE}")
    assert place.found(f"1.{CHANGE}") == ["found 1", "found 1", "found 1"]
    assert ends(report) == [(f"1.{CHANGE - 1}", f"1.{CHANGE}", "exact")]
    forked = [trial["warm"] for trial in place.trials()].count(True)
    assert 4 <= forked <= len(place.trials()) - 8  # two ends and two verified builds, two cases each, start fresh
    (note,) = [note for note in report.advice if "forked" in note]
    assert note.startswith(f"{forked} trials were forked from a process that had imported")


def test_forks_that_tell_something_else_do_not_count(place: Place) -> None:
    """Every fork fails; the change that they show is none, and the real one is found by trials that start fresh."""
    report = place.search(f"(is_forked or number >= {CHANGE})")
    assert ends(report) == [(f"1.{CHANGE - 1}", f"1.{CHANGE}", "exact")]
    (note,) = [note for note in report.advice if "forked" in note]
    assert "did something else when it was forked than when it started fresh" in note
    again = place.search(f"(is_forked or number >= {CHANGE})")
    assert (ends(again), again.counts.trials) == (ends(report), 0)


def test_shared_caches_are_those_of_one_build_and_fresh_at_its_verification(place: Place) -> None:
    place.search(f"number >= {CHANGE}", share_caches=True)
    assert place.found(f"1.{CHANGE}") == ["found 1", "found 1", "found 2"]
    assert list(place.folder.glob("cache/environments/*/scratch/caches-*")) == []


def seen(verdict: Verdict, *, warm: bool) -> SeenTrial:
    return SeenTrial(verdict, 1.0, "", "", warm=warm)


def failed(name: str) -> Failed:
    return Failed((FoundFailure(name, Signature(SignatureKind.EXIT), ""),))


@pytest.mark.parametrize(
    ("fresh", "forked", "differs"),
    [
        ([Passed()], [Passed()], False),
        ([Passed()], [failed("a")], True),
        ([failed("a")], [failed("b")], True),
        ([failed("a")], [failed("a"), Passed()], True),
        ([Passed(), failed("a")], [failed("a")], False),
        ([], [failed("a"), Passed()], False),
        ([failed("a")], [], False),
    ],
)
def test_disagreement(fresh: list[Verdict], forked: list[Verdict], differs: bool) -> None:  # noqa: FBT001
    trials = [*(seen(one, warm=False) for one in fresh), *(seen(one, warm=True) for one in forked)]
    assert disagreement(trials) is differs


TWO = (Case(name="a"), Case(name="b"))


@pytest.mark.parametrize(
    ("keys", "can"),
    [
        ({"cases": TWO}, True),
        ({"cases": TWO, "warm": "off"}, False),
        ({"cases": TWO, "flaky": "yes"}, False),
        ({"cases": TWO, "metrics": (Metric(name="latency", ratio=1.1),)}, False),
        ({"cases": TWO[:1]}, False),
        ({"cases": (TWO[0], Case(name="b", env={"TORCH_LOGS": "+all"}))}, False),
        ({"cases": (*TWO, Case(name="c", env={"TORCH_LOGS": "+all"}))}, True),
    ],
)
def test_which_cases_can_be_forked(keys: dict[str, Any], can: bool) -> None:  # noqa: FBT001
    spec = Spec(name="x", script="repro.py", **keys)
    assert can_be_forked(spec, spec.cases[0]) is can
