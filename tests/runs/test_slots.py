from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from bisect_tool.reports import events
from bisect_tool.runs.device import Device
from bisect_tool.runs.nvml import NoDriver
from bisect_tool.runs.session import Session
from bisect_tool.runs.slots import open_slots
from bisect_tool.store.results import open_results
from tests.rig.histories import steady
from tests.rig.scripted_executor import Run, ScriptedExecutor
from tests.rig.scripted_nvml import ScriptedNvml, card


@pytest.fixture
def on_cpu(tmp_path: Path) -> list[Session]:
    with closing(open_results(tmp_path / "results.sqlite", nullcontext)) as results:
        return Run([steady(3)], tmp_path, results, ScriptedExecutor(steady(3), 1, None)).sessions()  # type: ignore[arg-type]


def on_gpu(sessions: Sequence[Session]) -> Sequence[Session]:
    for session in sessions:
        session.asked = replace(session.asked, device=Device("cuda", "NVIDIA H200"))
    return sessions


def nothing(_event: events.Event) -> None:
    raise AssertionError(_event)


def test_one_slot_on_the_cpu_unless_more_are_asked_for(on_cpu: list[Session]) -> None:
    assert [slot.name for slot in open_slots(on_cpu, None, 0, {}, nothing).slots] == ["1"]
    assert [slot.name for slot in open_slots(on_cpu, 3, 0, {}, nothing).slots] == ["1", "2", "3"]


def test_one_slot_for_each_gpu_that_may_be_used(on_cpu: list[Session]) -> None:
    nvml = ScriptedNvml((card(0), card(1, slices=2), card(2)))
    found = open_slots(on_gpu(on_cpu), None, 60, {"CUDA_VISIBLE_DEVICES": "0,2"}, nothing, lambda: nvml)
    assert [slot.variables["CUDA_VISIBLE_DEVICES"] for slot in found.slots] == [
        "GPU-00000000-0000",
        "GPU-00000002-0000",
    ]
    assert all(slot.watch is not None and slot.watch.wait == 60 for slot in found.slots)
    assert found.nvml is nvml


def test_slices_are_slots_and_fewer_may_be_asked_for(on_cpu: list[Session]) -> None:
    nvml = ScriptedNvml((card(1, slices=3),))
    found = open_slots(on_gpu(on_cpu), 2, 0, {}, nothing, lambda: nvml)
    assert [slot.variables["CUDA_VISIBLE_DEVICES"] for slot in found.slots] == [
        "MIG-00010000-1111",
        "MIG-00010001-1111",
    ]


def test_more_slots_than_gpus_are_refused_and_that_is_told(on_cpu: list[Session]) -> None:
    told: list[events.Event] = []
    nvml = ScriptedNvml((card(0), card(1, "NVIDIA A100")))
    found = open_slots(on_gpu(on_cpu), 4, 0, {}, told.append, lambda: nvml)
    assert len(found.slots) == 1
    assert "1 of other kinds" in str(told[0])
    assert "1 slots instead of 4" in str(told[1])


def test_without_a_driver_that_answers_there_is_a_slot_that_nobody_watches(on_cpu: list[Session]) -> None:
    def none() -> ScriptedNvml:
        raise NoDriver("Not Found")

    told: list[events.Event] = []
    found = open_slots(on_gpu(on_cpu), None, 0, {}, told.append, none)
    assert ([slot.watch for slot in found.slots], len(told)) == ([None], 1)
