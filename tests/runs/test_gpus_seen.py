from __future__ import annotations

import pytest

from bisect_tool.runs.gpus_seen import GpuUser, SeenGpu, SeenGpus, see_gpus
from bisect_tool.runs.nvml import NoDriver
from tests.rig.nvml_library import BUSY_L4, GIB, H200, SLICED_H200, FakeLibrary


def test_what_a_card_says() -> None:
    library = FakeLibrary((H200, BUSY_L4))
    assert see_gpus(library) == SeenGpus(
        "580.159.04",
        (13, 0),
        (
            SeenGpu("NVIDIA H200", (9, 0), 139 * GIB, 138 * GIB),
            SeenGpu("NVIDIA L4", (8, 9), 22 * GIB, 4 * GIB, (GpuUser(4711, 18 * GIB), GpuUser(4712, None))),
        ),
    )
    assert library.open == 0


def test_a_card_that_is_cut_up() -> None:
    (card,) = see_gpus(FakeLibrary((SLICED_H200,), cuda=12040)).cards
    assert (card.is_cut, card.slices) == (True, ("H200 MIG 1g.18gb", "H200 MIG 3g.71gb"))


def test_no_driver() -> None:
    with pytest.raises(NoDriver, match="Driver Not Loaded"):
        see_gpus(FakeLibrary(broken="Driver Not Loaded"))
