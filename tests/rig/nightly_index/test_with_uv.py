"""The index and its wheels are real enough for real uv and for the tool's own health check."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from bisect_tool.environments import health
from tests.rig.index_state import RequestKind
from tests.rig.nightly_index import Change, NightlyIndex, NightlyPlan
from tests.rig.provoking.stage import Stage
from tests.rig.toy import toy_script

TODAY = date(2026, 10, 9)
PLAN = NightlyPlan(
    first=date(2024, 12, 1),
    last=TODAY,
    variants=("cpu", "cu126", "cu130"),
    pythons=("cp311",),
    changes=(Change("grad", date(2026, 6, 3), "RuntimeError: gradient is all zero"),),
    dead=[date(2026, 10, 2)],
)


@pytest.fixture(scope="module")
def nightlies() -> Iterator[NightlyIndex]:
    with NightlyIndex(PLAN) as index:
        yield index


@pytest.fixture
def stage(tmp_path: Path, nightlies: NightlyIndex) -> Stage:
    made = Stage(tmp_path, nightlies.default)
    assert made.venv().status == 0
    return made


def run(stage: Stage, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(stage.environment / "bin" / "python"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_listed_nightly_with_everything_it_needs(stage: Stage, nightlies: NightlyIndex) -> None:
    nightlies.requests.clear()
    done = stage.install("torch==2.16.0.dev20261007+cu130", options=["--index", f"{nightlies.address}/cu130"])
    assert " + triton==3.9.0+gitaad2a60d\n" in done.stderr
    assert nightlies.requests.count(RequestKind.METADATA, "torch-*") == 1
    probe = json.loads(run(stage, str(health.PROBE), "torch", "cuda").stdout.splitlines()[-1])
    cut = PLAN.cut(date(2026, 10, 7))
    assert probe["torch"]["version"] == "2.16.0.dev20261007+cu130"
    assert (probe["torch"]["git_version"], probe["torch"]["cuda"]) == (cut.nightly, "13.0")
    assert "sm_90" in probe["torch"]["arch_list"]


def test_the_nightly_index_alone_has_everything(stage: Stage, nightlies: NightlyIndex) -> None:
    done = stage.install("torch==2.16.0.dev20261007+cu130", url=f"{nightlies.address}/cu130")
    assert done.status == 0, done.stderr


def test_a_hidden_nightly_by_its_address(stage: Stage, nightlies: NightlyIndex) -> None:
    for day, status in ((date(2026, 6, 2), 0), (date(2026, 6, 3), 1)):
        assert stage.install(nightlies.url(nightlies.torch(day)), options=["--no-deps"]).status == 0
        seen = run(stage, str(toy_script(stage.root, module="torch")), "grad")
        assert seen.returncode == status, seen.stderr
    assert seen.stderr.splitlines()[-1] == "RuntimeError: gradient is all zero"


def test_a_nightly_without_metadata_file_is_read_by_ranges(stage: Stage, nightlies: NightlyIndex) -> None:
    nightlies.requests.clear()
    address = nightlies.url(nightlies.torch(date(2024, 12, 10), "cu126"))
    done = stage.install(f"torch @ {address}", options=["--dry-run", "--index", f"{nightlies.address}/cu126"])
    assert " + pytorch-triton==3.2.0+git" in done.stderr
    parts = [
        request.header.get("range") for request in nightlies.requests.of(RequestKind.FILE, "torch-2.6*", method="GET")
    ]
    assert parts
    assert all(parts)


def test_a_dead_nightly_installs_and_does_not_import(stage: Stage, nightlies: NightlyIndex) -> None:
    assert stage.install(nightlies.url(nightlies.torch(date(2026, 10, 2))), options=["--no-deps"]).status == 0
    assert "ImportError: libtoy.so.1" in run(stage, "-c", "import torch").stderr
