"""A real torch release, fetched from the package index, served as a nightly and installed by uv."""

from __future__ import annotations

import base64
import csv
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tests.rig.index_state import RequestKind
from tests.rig.nightly_index import NightlyIndex, NightlyPlan, Real
from tests.rig.provoking.stage import Stage
from tests.rig.real_release import fetch_release

DAY = date(2026, 10, 9)
VERSION = "2.14.1"


@pytest.fixture
def release(tmp_path: Path) -> Iterator[Path]:
    yield fetch_release("torch", VERSION, "3.11", tmp_path)
    shutil.rmtree(tmp_path)  # 2 GB


def changed_files(packages: Path) -> Iterator[str]:
    """Files that are not as the RECORD of torch says."""
    (record,) = packages.glob("torch-*.dist-info/RECORD")
    with record.open(newline="") as lines:
        for name, told, _ in csv.reader(lines):
            with (packages / name).open("rb") as file:
                found = base64.urlsafe_b64encode(hashlib.file_digest(file, "sha256").digest()).rstrip(b"=").decode()
            if told and told != f"sha256={found}":
                yield name


@pytest.mark.network
@pytest.mark.torch
def test_a_real_release_is_installed_as_a_nightly(tmp_path: Path, release: Path) -> None:
    plan = NightlyPlan(first=DAY, last=DAY, variants=("cu130",), pythons=("cp311",), real=(Real(DAY, release),))
    with NightlyIndex(plan) as index:
        stage = Stage(tmp_path, index.default)
        stage.venv()
        done = stage.install(index.url(index.torch(DAY)), options=["--no-deps"])
        assert done.status == 0, done.stderr
        assert index.requests.sent(RequestKind.FILE) < 1.05 * release.stat().st_size
    (packages,) = stage.environment.glob("lib/python*/site-packages")
    script = "import runpy, sys; told = runpy.run_path(sys.argv[1]); print(told['__version__'], told['git_version'])"
    told = subprocess.run(
        [stage.environment / "bin" / "python", "-c", script, packages / "torch" / "version.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ["2.16.0.dev20261009+cu130", plan.cut(DAY).nightly]
    assert list(changed_files(packages)) == []
