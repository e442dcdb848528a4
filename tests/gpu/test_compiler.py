"""The compiler on the GPU: the switch of backends, generated code, and what blocking launches show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bisect_tool.environments import environment
from bisect_tool.runs.diagnosing.rungs import Rung, rungs_for
from bisect_tool.trials.failure import Passed
from tests.gpu.conftest import Run

HOOK = Path(environment.__file__).with_name("compile_switch.py")
COMPILES = """
import torch

def double(x):
    return (x * 2).sin()

x = torch.randn(256, device="cuda")
compiled = torch.compile(double)
for _ in range(3):
    assert torch.allclose(compiled(x), double(x), atol=1e-5)
"""


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    folder = tmp_path / "hook"
    folder.mkdir()
    shutil.copyfile(HOOK, folder / "sitecustomize.py")
    return folder


@pytest.mark.parametrize("rung", rungs_for("cuda"), ids=lambda rung: rung.name)
def test_every_rung_runs_on_the_gpu_and_is_seen_to_have_switched(
    rung: Rung, run: Run, hook: Path, tmp_path: Path
) -> None:
    seen = tmp_path / "seen.txt"
    variables = {
        "PYTHONPATH": str(hook),
        "BISECT_COMPILE": json.dumps(dict(rung.switch)),
        "BISECT_COMPILE_SEEN": str(seen),
    }
    observation, verdict = run(COMPILES, variables=variables)
    assert verdict == Passed(), observation.output
    assert seen.read_text().splitlines() == ["switched"]


def test_a_cold_and_a_warm_cache_give_the_same_result(run: Run, tmp_path: Path) -> None:
    shared = {name: str(tmp_path / name) for name in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")}
    cold, warm = (run(COMPILES, variables=shared) for _ in range(2))
    assert cold[1] == warm[1] == Passed(), cold[0].output + warm[0].output
    assert any((tmp_path / "TORCHINDUCTOR_CACHE_DIR").iterdir())
