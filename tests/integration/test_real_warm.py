"""Forked trials beside fresh ones on a real torch: the repros of this repository must come to the same verdicts."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bisect_tool.environments.uv import find_uv
from bisect_tool.trials.failure import Failed
from bisect_tool.trials.judge import judge
from bisect_tool.trials.trial import Forking, TrialOrder, run_trial
from bisect_tool.trials.warm import WarmServers

ROOT = Path(__file__).resolve().parents[2]
RELEASE = "torch==2.13.0"
TRIALS = (
    ("addcdiv-item-loop", "--backend eager"),
    ("associative-scan-dynamic", "--backend eager"),
    ("cumprod-backward-split-scan", "--backend eager"),
    ("diagonal-scatter-grad", "--backend eager"),
    ("cumsum-scalar-constant", "--backend inductor"),
    ("cumsum-scalar-constant", "--backend nonsense"),
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Those of an environment with torch; `BISECT_TEST_TORCH` names one that is there already."""
    if given := os.environ.get("BISECT_TEST_TORCH"):
        yield Path(given)
        return
    folder = tmp_path_factory.mktemp("torch")
    uv = find_uv(folder / "uv", os.environ).program
    subprocess.run([uv, "venv", "--quiet", "--python", "3.11", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, RELEASE, "numpy"], check=True)
    yield python.parent
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.torch
@pytest.mark.network
def test_the_repros_of_this_repository(programs: Path, tmp_path: Path) -> None:
    with WarmServers(programs) as servers:
        refused: list[str] = []
        ahead = Forking(servers, independent=False, tell=refused.append)
        for number, (spec, arguments) in enumerate(TRIALS):
            files = (("repro.py", (ROOT / "repro_specs" / spec / "repro.py").read_bytes()),)
            order = TrialOrder(files, ("python", "repro.py", *shlex.split(arguments)), {}, 300, "cpu")
            fresh, forked = (
                run_trial(
                    order, programs=programs, folder=tmp_path / f"{number}-{way is None}", environ=os.environ, ahead=way
                ).observation
                for way in (None, ahead)
            )
            assert (fresh.warm, forked.warm, refused) == (False, True, [])
            left, right = judge(fresh, []), judge(forked, [])
            assert type(left) is type(right)
            if isinstance(left, Failed) and isinstance(right, Failed):
                assert [one.id for one in left.failures] == [one.id for one in right.failures]
