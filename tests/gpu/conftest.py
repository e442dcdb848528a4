"""Tests that need a CUDA device: all of this folder carries the mark `gpu`, and is skipped where NVML finds none.

`$BISECT_GPU_PYTHON` names an interpreter that has torch (left out: `python3` on the path).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bisect_tool.errors import DeviceMissing
from bisect_tool.runs.device import Device, choose_device
from bisect_tool.runs.judging import shortened, verdict_of
from bisect_tool.trials.failure import Verdict
from bisect_tool.trials.observation import Observation
from bisect_tool.trials.trial import TrialOrder, run_trial

HERE = Path(__file__).parent


def found_gpu() -> Device | None:
    """The GPU of this machine, None when there is none."""
    try:
        return choose_device(("cuda",))
    except DeviceMissing:
        return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if HERE in item.path.parents]
    skip = pytest.mark.skip(reason="needs a CUDA device")
    is_here = bool(mine) and found_gpu() is not None
    for item in mine:
        # What only reads and computes says so by `anywhere`.
        if item.get_closest_marker("anywhere") is None:
            item.add_marker(pytest.mark.gpu)
            if not is_here:
                item.add_marker(skip)


@pytest.fixture(scope="session")
def gpu() -> Device:
    device = found_gpu()
    assert device is not None
    return device


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of an interpreter that has torch for CUDA."""
    python = os.environ.get("BISECT_GPU_PYTHON") or shutil.which("python3")
    assert python is not None
    told = subprocess.run(
        [python, "-c", "import torch; print(torch.cuda.is_available())"], capture_output=True, text=True, check=False
    )
    if told.stdout.strip() != "True":
        pytest.skip(f"{python} has no torch that sees the GPU: {told.stderr.strip()[-200:]}")
    return Path(python).parent


Run = Callable[..., tuple[Observation, Verdict]]


@pytest.fixture
def run(programs: Path, tmp_path: Path) -> Run:
    """Runs a script as a trial on the GPU."""
    made: list[int] = []

    def call(
        script: Path | str, *, timeout: float = 120, variables: Mapping[str, str] | None = None
    ) -> tuple[Observation, Verdict]:
        content = script.read_bytes() if isinstance(script, Path) else script.encode()
        made.append(len(made))
        order = TrialOrder((("repro.py", content),), ("python", "repro.py"), variables or {}, timeout, "cuda")
        finished = run_trial(order, programs=programs, folder=tmp_path / f"trial-{len(made)}", environ=os.environ)
        observation = shortened(finished.observation)
        return observation, verdict_of(observation, ())

    return call
