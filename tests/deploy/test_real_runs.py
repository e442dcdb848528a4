"""The scripts of `deploy/` with the real program, over a wheelhouse of toy builds and without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.schemas import DEPLOY, ROOT
from tests.image.toys import Toys


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """What a user has set: no settings of the one who runs the tests, and a wheelhouse."""
    program = tmp_path / "bisect"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m bisect_tool "$@"\n')
    program.chmod(0o755)
    toys = Toys(tmp_path / "toys")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("BISECT_", "UV_", "PIP_", "SLURM_"))
    }
    # What verifies, and what is made ahead of need, is no matter of the scripts: left out, the answers come in half the time.
    quick = {"BISECT_VERIFY": "0", "BISECT_AHEAD": "off", "BISECT_WHEELHOUSE": str(toys.wheels)}
    own = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT), "BISECT_PROGRAM": str(program)}
    return {**kept, **quick, **own, "BISECT_SPECS": f"{toys.specs}/toy.yaml {toys.specs}/compiled.yaml"}


def lines(out: Path) -> dict[str, str]:
    """The outcome of each spec that a summary names."""
    found = (json.loads(line) for line in (out / "summary.jsonl").read_text().splitlines())
    return {line["name"]: line["outcome"] for line in found}


def test_two_tasks_of_a_slurm_array_answer_everything_once(tmp_path: Path, environ: dict[str, str]) -> None:
    script, out = DEPLOY / "slurm" / "bisect-batch.sbatch", tmp_path / "results"
    array = {
        "SLURM_ARRAY_TASK_MIN": "1",
        "SLURM_ARRAY_TASK_MAX": "2",
        "SLURM_ARRAY_TASK_COUNT": "2",
        "SLURM_JOB_ID": "1",
    }
    for number in ("1", "2"):
        task = {**environ, **array, "SLURM_ARRAY_TASK_ID": number, "BISECT_OUT": str(out)}
        ran = subprocess.run(["bash", script], env=task, capture_output=True, text=True, timeout=300, check=False)
        assert ran.returncode == 0, ran.stderr
    shards = [lines(out / f"shard-{number}") for number in (0, 1)]
    assert sorted(map(len, shards)) == [1, 1]
    assert shards[0] | shards[1] == {"toy": "exact", "compiled": "no change"}
    # As docs/slurm.md and merge.yaml go on: one page for all of them.
    merge = [environ["BISECT_PROGRAM"], "batch", "--merge", *sorted(out.glob("shard-*")), "--out", out / "all"]
    ran = subprocess.run(list(map(str, merge)), env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert lines(out / "all") == shards[0] | shards[1]


def test_the_step_of_the_action_writes_the_answer_into_the_summary(tmp_path: Path, environ: dict[str, str]) -> None:
    runner = {
        "GITHUB_ACTION_PATH": str(DEPLOY / "action"),
        "GITHUB_WORKSPACE": str(tmp_path / "toys" / "specs"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "BISECT_ACTION_PROGRAM": environ["BISECT_PROGRAM"],
        "BISECT_ACTION_SPECS": "toy.yaml\n",
        "BISECT_ACTION_FROM": "1.5",
        "BISECT_STORE": "",
    }
    step = ["bash", str(DEPLOY / "action" / "run")]
    ran = subprocess.run(step, env={**environ, **runner}, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "appeared in 1.7" in (tmp_path / "summary").read_text()
    assert (tmp_path / "output").read_text().startswith("status=0\n")
