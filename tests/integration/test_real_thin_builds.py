"""Thin builds of real torch: nightlies that differ only in Python files, and the commit that was planted between them."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tests.integration.conftest import Place
from tests.rig.git_history.maker import GitHistory
from tests.rig.nightly_index import Cut, NightlyIndex, NightlyPlan, Real
from tests.rig.real_release import fetch_release

BEFORE, AFTER = date(2026, 8, 3), date(2026, 8, 4)
PLANTED, OTHER = "torch/functional.py", "torch/_tensor_str.py"
SCRIPT = "import torch\nassert torch.einsum('i,i->', torch.ones(3), torch.ones(3)).item() == 3\n"
HEAD = b"def einsum("
BUG = b"def einsum(*args, **kwargs):\n    raise RuntimeError('planted')\n\n\ndef _einsum_before("


@pytest.fixture
def wheel(tmp_path: Path) -> Iterator[Path]:
    """A release as the package index has it, for CUDA; it runs on the CPU as well."""
    yield fetch_release("torch", "2.13.0", "3.11", tmp_path)
    shutil.rmtree(tmp_path)  # 10 GB


@pytest.mark.network
@pytest.mark.torch
def test_a_planted_commit_of_real_torch_is_found(place: Place, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        planted, other = archive.read(PLANTED), archive.read(OTHER)
    assert planted.count(HEAD) == 1
    broken, told = planted.replace(HEAD, BUG), other + b"# a remark\n"
    with GitHistory(place.root / "pytorch.git") as history:
        history.land("Begin", {PLANTED: planted, OTHER: other, "README.md": "0"})
        nights = [history.nightly(BEFORE)]
        history.land("Add a module", {"torch/_planted_module.py": "x = 1\n"})
        first = history.land("Remark on printing", {OTHER: told})
        bad = history.land("Speed up einsum", {PLANTED: broken, "torch/_planted_module.py": None})
        history.land("Change binaries", {"aten/src/ATen/native/Linear.cpp": "int x;\n"})
        nights.append(history.nightly(AFTER))
    plan = NightlyPlan(
        first=BEFORE, last=AFTER, variants=("cu130",), pythons=("cp311",),
        real=(Real(BEFORE, wheel), Real(AFTER, wheel, {PLANTED: broken, OTHER: told})),
        cuts={night.day: Cut(night.sha, night.main) for night in nights},
    )  # fmt: skip
    with NightlyIndex(plan) as index:
        index.today = AFTER
        # What torch requires comes from the usual index.
        place.extra |= {"BISECT_NIGHTLY_INDEX": index.address, "BISECT_INDEX": os.environ.get("BISECT_INDEX", "")}
        spec = place.spec(
            package="torch", channel=["nightly", "commit"], variant="cu130", python="3.11", script=SCRIPT, timeout=300
        )
        report = place.answer("run", spec, "--repo", history.folder, "--verify", "0")
    end = report["failures"][0]["episodes"][0]["appeared"]
    assert (report["channel"], end["last_without"], end["first_with"]) == ("commit", first.sha[:12], bad.sha[:12])
    assert report["outcome"] == "exact"
