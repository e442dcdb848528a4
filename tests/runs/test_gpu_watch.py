from __future__ import annotations

from dataclasses import replace

import pytest

from bisect_tool.runs.gpu_watch import GpuWatch
from bisect_tool.runs.gpus import GpuLost
from tests.rig.scripted_nvml import GIB, IDLE, ScriptedNvml, card, crowded

CARD = card(0)
SLICE = card(0, slices=1).slices[0]


def watch(*script: object, faults: list[tuple[int, ...]] | None = None, wait: float = 0.0) -> GpuWatch:
    nvml = ScriptedNvml((CARD,), {CARD.uuid: list(script) or [IDLE]}, {CARD.uuid: faults or []})  # type: ignore[arg-type]
    return GpuWatch(nvml, CARD, wait)


def never(_seconds: float) -> None:
    raise AssertionError("nobody is to be waited for")


def test_a_free_card_has_nothing_to_tell() -> None:
    told: list[str] = []
    made = watch(IDLE)
    made.begin(never, told.append)
    assert (made.end().others, told) == (0, [])


def test_a_busy_card_is_told_once_and_used_all_the_same() -> None:
    told: list[str] = []
    made = watch(crowded(40, 2))
    for _ in range(3):
        made.begin(never, told.append)
        assert made.end().others == 40 * GIB
    assert len(told) == 1
    assert "2 other processes hold 43 GB of its 149 GB" in told[0]


def test_a_busy_card_is_waited_for_if_asked_and_not_for_ever() -> None:
    waited: list[float] = []
    told: list[str] = []
    watch(crowded(40), crowded(40), IDLE, wait=60).begin(waited.append, told.append)
    assert len(waited) == 2
    assert "waiting for at most 1 min" in told[0]
    waited.clear()
    watch(crowded(40), wait=20).begin(waited.append, told.append)
    assert sum(waited) == 20


def test_a_neighbour_that_came_during_the_trial_counts() -> None:
    made = watch(IDLE, crowded(70))
    made.begin(never, print)
    assert made.end().others == 70 * GIB


@pytest.mark.parametrize("xid", [48, 74, 79, 94, 119])
def test_an_xid_of_the_hardware_is_a_lost_card(xid: int) -> None:
    made = watch(IDLE, faults=[(), (xid,)])
    made.begin(never, print)
    with pytest.raises(GpuLost, match=f"Xid {xid}"):
        made.end()


@pytest.mark.parametrize("xid", [13, 31, 43, 45, 63])
def test_an_xid_of_the_program_is_none(xid: int) -> None:
    made = watch(IDLE, faults=[(), (xid,)])
    made.begin(never, print)
    made.end()


def test_new_memory_errors_and_silence_are_a_lost_card_old_errors_are_not() -> None:
    old = replace(IDLE, errors=3)
    made = watch(old, old, replace(IDLE, errors=5))
    made.begin(never, print)
    made.end()
    with pytest.raises(GpuLost, match="2 uncorrectable"):
        made.begin(never, print)
    with pytest.raises(GpuLost, match="fallen"):
        watch("it has fallen off the bus").begin(never, print)


def test_a_slice_is_told_of_the_errors_of_its_card() -> None:
    nvml = ScriptedNvml((card(0, slices=1),), {}, {CARD.uuid: [(79,)]})
    with pytest.raises(GpuLost, match="79"):
        GpuWatch(nvml, SLICE).begin(never, print)
