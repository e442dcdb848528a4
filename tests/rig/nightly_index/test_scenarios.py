from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from tests.rig.nightly_index import NightlyIndex
from tests.rig.nightly_index.conftest import Client
from tests.rig.nightly_index.scenarios import CASE, hard


def acted(client: Client, index: NightlyIndex, day: date, folder: Path) -> int:
    """The exit status of the case in the nightly of a day, which is imported right out of its wheel."""
    variant = next(one for one in index.plan.variants if index.plan.is_built(day, one, "cp311"))
    wheel = index.torch(day, variant)
    (folder / wheel.filename).write_bytes(client.get(index.url(wheel)).content)
    environ = {**os.environ, "PYTHONPATH": str(folder / wheel.filename)}
    return subprocess.run(
        [sys.executable, "-m", "torch", CASE], env=environ, capture_output=True, check=False
    ).returncode


@pytest.mark.parametrize("seed", range(4))
def test_the_truth_about_a_scenario_is_what_its_wheels_do(client: Client, tmp_path: Path, seed: int) -> None:
    scenario = hard(seed)
    truth = scenario.truth()
    with scenario.open() as index:
        index.faults.clear()
        assert acted(client, index, truth.last_without, tmp_path) == 0
        assert acted(client, index, truth.first_with, tmp_path) == 1
        assert all(acted(client, index, day, tmp_path) == 1 for day in truth.dead_between)


def test_scenarios_are_hard() -> None:
    scenarios = [hard(seed) for seed in range(60)]
    assert all(len(list(scenario.plan.days())) == 400 for scenario in scenarios)
    assert {scenario.plan.variants for scenario in scenarios} == {("cpu",), ("cu124", "cu128"), ("cu128", "cu132")}
    truths = [scenario.truth() for scenario in scenarios]
    assert sum(bool(truth.dead_between) for truth in truths) > 5
    assert sum((truth.first_with - truth.last_without).days > 1 for truth in truths) > 15
    assert hard(7) == hard(7)
