from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.deploy.schemas import DEPLOY
from tests.rig.scripted_bisect import calls, scripted_bisect

SCRIPT = DEPLOY / "slurm" / "bisect-batch.sbatch"


class Task:
    """One task of an array, with Slurm's variables and a `scontrol` that notes what it was asked for."""

    def __init__(self, folder: Path, told: str, **variables: str) -> None:
        self.folder = folder
        self.program = scripted_bisect(folder, told)
        scontrol = folder / "scontrol"
        scontrol.write_text(f'#!/bin/sh\necho "$@" >> {folder}/scontrol.txt\n')
        scontrol.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BISECT_", "SLURM_"))}
        self.environ = {
            **kept,
            "PATH": f"{folder}:{kept['PATH']}",
            "TMPDIR": str(folder / "scratch"),
            "SLURM_JOB_ID": "4711",
            "SLURM_ARRAY_TASK_ID": "2",
            "SLURM_ARRAY_TASK_MIN": "0",
            "SLURM_ARRAY_TASK_MAX": "7",
            "SLURM_ARRAY_TASK_COUNT": "8",
            "BISECT_SPECS": "/specs",
            "BISECT_OUT": str(folder / "results"),
            **variables,
        }

    def run(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", SCRIPT], env=self.environ, capture_output=True, text=True, timeout=60, check=False
        )

    def requeued(self) -> list[str]:
        path = self.folder / "scontrol.txt"
        return path.read_text().splitlines() if path.exists() else []


def words(folder: Path) -> list[str]:
    (call,) = calls(folder)
    return [str(word) for word in call["words"]]


def test_each_task_takes_its_shard(tmp_path: Path) -> None:
    assert Task(tmp_path, "0").run().returncode == 0
    out = f"{tmp_path}/results/shard-2"
    assert words(tmp_path) == ["batch", "/specs", "--out", out, "--shard", "2/8", "--plain"]


def test_an_array_that_begins_with_one_has_the_same_shards(tmp_path: Path) -> None:
    Task(tmp_path, "0", SLURM_ARRAY_TASK_ID="8", SLURM_ARRAY_TASK_MIN="1", SLURM_ARRAY_TASK_MAX="8").run()
    assert words(tmp_path)[4:6] == ["--shard", "7/8"]


def test_an_array_with_gaps_is_refused_because_a_shard_would_be_left_out(tmp_path: Path) -> None:
    ran = Task(tmp_path, "0", SLURM_ARRAY_TASK_COUNT="3").run()
    assert (ran.returncode, calls(tmp_path)) == (2, [])
    assert "gaps" in ran.stderr


def test_the_cache_is_on_the_node_and_the_store_where_another_node_finds_it(tmp_path: Path) -> None:
    Task(tmp_path, "0").run()
    (call,) = calls(tmp_path)
    assert call["environ"]["BISECT_CACHE"] == f"{tmp_path}/scratch/bisect-{os.getuid()}"
    assert call["environ"]["BISECT_STORE"] == f"sqlite:///{tmp_path}/results/shard-2/store.sqlite"


def test_a_shared_store_is_taken_as_it_is_named(tmp_path: Path) -> None:
    Task(tmp_path, "0", BISECT_STORE="postgresql+psycopg://bisect@db/bisect").run()
    (call,) = calls(tmp_path)
    assert call["environ"]["BISECT_STORE"] == "postgresql+psycopg://bisect@db/bisect"


def statuses(numbers: Iterable[int]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("status", [str(number) for number in numbers])


@statuses([20, 26, 130])
def test_a_fault_of_the_machine_begins_again(tmp_path: Path, status: str) -> None:
    task = Task(tmp_path, status)
    assert task.run().returncode == 0
    assert task.requeued() == ["requeue 4711"]


@statuses([0, 3, 10])
def test_an_answer_or_a_mistake_does_not(tmp_path: Path, status: str) -> None:
    task = Task(tmp_path, status)
    assert task.run().returncode == int(status)
    assert task.requeued() == []


def test_it_does_not_begin_again_for_ever(tmp_path: Path) -> None:
    task = Task(tmp_path, "26", SLURM_RESTART_COUNT="5")
    ran = task.run()
    assert (ran.returncode, task.requeued()) == (26, [])
    assert "has begun 6 times" in ran.stderr


def test_the_end_of_the_allotted_time_stops_bisect_cleanly_and_begins_again(tmp_path: Path) -> None:
    task = Task(tmp_path, "wait")
    process = subprocess.Popen(["bash", SCRIPT], env=task.environ, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.terminate()  # as `--signal=B:TERM@120` does: to the shell alone
    process.communicate(timeout=30)
    assert (process.returncode, task.requeued()) == (0, ["requeue 4711"])
