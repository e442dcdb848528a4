"""Which device the trials run on: the first of the spec's that this machine has, and all GPUs like it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from bisect_tool.builds.build import Machine
from bisect_tool.errors import DeviceMissing
from bisect_tool.runs.gpus import Gpu, Nvml, alike, visible
from bisect_tool.runs.nvml import NoDriver, open_nvml

CUDA = "cuda"


@dataclass(frozen=True, slots=True)
class Device:
    """`name` is what a repro is told (`cuda`, `cpu`); `kind` what results are stored under.

    `driver` and `capability` (its architecture, (9, 0) for an H200) are those of the GPU.
    """

    name: str
    kind: str
    driver: str | None = None
    capability: tuple[int, int] | None = None

    @property
    def machine(self) -> Machine:
        """What a channel needs to know to choose builds that can run."""
        return Machine(self.name, self.driver, self.capability)


def choose_device(
    wanted: Sequence[str], environ: Mapping[str, str] = os.environ, ask: Callable[[], Nvml] = open_nvml
) -> Device:
    """The first device of `wanted` that is here; `ask` opens the driver.

    Raises `DeviceMissing`, with what was looked at.
    """
    why = ""
    for name in wanted:
        if name == "cpu":
            return Device("cpu", "cpu")
        gpu, why = _first_gpu(environ, ask)
        if gpu is not None:
            return gpu
    raise DeviceMissing(
        f"the spec needs {' or '.join(wanted)}, and this machine has none: {why}",
        advice="run it on a machine with an NVIDIA GPU, or, if the failure shows there too, add `cpu` to `device:` or use "
        "--device cpu",
    )


def usable_gpus(nvml: Nvml, environ: Mapping[str, str]) -> tuple[tuple[Gpu, ...], int]:
    """The GPUs that trials may run on, all of one kind, and how many of other kinds are left out."""
    seen = visible(nvml.gpus(), environ)
    same = alike(seen) if seen else ()
    return same, len(seen) - len(same)


def _first_gpu(environ: Mapping[str, str], ask: Callable[[], Nvml]) -> tuple[Device | None, str]:
    if environ.get("CUDA_VISIBLE_DEVICES", "unset") in ("", "-1"):
        return None, "CUDA_VISIBLE_DEVICES hides every GPU"
    try:
        with closing(ask()) as nvml:
            cards = nvml.gpus()
            if not cards:
                return None, "the NVIDIA driver lists no GPU"
            gpus = visible(cards, environ)
            if not gpus:
                return (
                    None,
                    f"CUDA_VISIBLE_DEVICES={environ['CUDA_VISIBLE_DEVICES']} names none of its {len(cards)} GPUs",
                )
            return Device(CUDA, gpus[0].name, nvml.driver(), gpus[0].capability), ""
    except NoDriver as error:
        return None, f"NVML says: {error}"
