from __future__ import annotations

import pytest

from bisect_tool.errors import DeviceMissing
from bisect_tool.runs.device import choose_device, usable_gpus
from bisect_tool.runs.gpus import visible
from bisect_tool.runs.nvml import NoDriver
from tests.rig.scripted_nvml import ScriptedNvml, card

CARDS = (card(0), card(1), card(2, slices=3), card(3))
SLICES = ["MIG-00020000-1111", "MIG-00020001-1111", "MIG-00020002-1111"]


@pytest.mark.parametrize(
    ("setting", "seen"),
    [
        (None, ["GPU-00000000-0000", "GPU-00000001-0000", *SLICES, "GPU-00000003-0000"]),
        ("1", ["GPU-00000001-0000"]),
        ("3,0", ["GPU-00000003-0000", "GPU-00000000-0000"]),
        ("2", SLICES),
        ("GPU-00000001", ["GPU-00000001-0000"]),
        ("GPU-00000001-0000, 0", ["GPU-00000001-0000", "GPU-00000000-0000"]),
        (SLICES[1], [SLICES[1]]),
        (f"{SLICES[2]},{SLICES[0]}", [SLICES[2], SLICES[0]]),
        ("0,9,1", ["GPU-00000000-0000"]),
        ("0,-1,1", ["GPU-00000000-0000"]),
        ("GPU-0", []),
        ("nonsense", []),
        ("", []),
        ("1,1", ["GPU-00000001-0000"]),
    ],
)
def test_what_cuda_visible_devices_leaves(setting: str | None, seen: list[str]) -> None:
    environ = {} if setting is None else {"CUDA_VISIBLE_DEVICES": setting}
    assert [gpu.uuid for gpu in visible(CARDS, environ)] == seen


def test_the_device_is_the_first_visible_one_also_by_its_uuid() -> None:
    nvml = ScriptedNvml((card(0), card(1, "NVIDIA A100")))
    found = choose_device(["cuda"], {"CUDA_VISIBLE_DEVICES": "GPU-00000001-0000"}, lambda: nvml)
    assert (found.name, found.kind, found.driver, found.capability) == ("cuda", "NVIDIA A100", "580.159.03", (9, 0))
    assert nvml.is_closed


def test_only_gpus_of_one_kind_are_used_together() -> None:
    nvml = ScriptedNvml((card(0), card(1, "NVIDIA A100"), card(2)))
    gpus, others = usable_gpus(nvml, {})
    assert ([gpu.uuid for gpu in gpus], others) == (["GPU-00000000-0000", "GPU-00000002-0000"], 1)


@pytest.mark.parametrize(
    ("environ", "cards", "why"),
    [
        ({"CUDA_VISIBLE_DEVICES": ""}, (card(0),), "hides every GPU"),
        ({"CUDA_VISIBLE_DEVICES": "7"}, (card(0),), "CUDA_VISIBLE_DEVICES=7 names none of its 1 GPUs"),
        ({}, (), "lists no GPU"),
    ],
)
def test_why_there_is_no_gpu(environ: dict[str, str], cards: tuple[object, ...], why: str) -> None:
    with pytest.raises(DeviceMissing, match=why):
        choose_device(["cuda"], environ, lambda: ScriptedNvml(cards))  # type: ignore[arg-type]


def test_without_a_driver_the_cpu_is_taken_where_the_spec_allows_it() -> None:
    def none() -> ScriptedNvml:
        raise NoDriver("Driver Not Loaded")

    assert choose_device(["cuda", "cpu"], {}, none).name == "cpu"
    with pytest.raises(DeviceMissing, match="Driver Not Loaded"):
        choose_device(["cuda"], {}, none)
