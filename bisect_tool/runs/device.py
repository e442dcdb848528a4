"""Which device the trials run on: the first of the spec's that this machine has."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bisect_tool.builds.build import Machine
from bisect_tool.errors import DeviceMissing


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


def choose_device(wanted: Sequence[str], environ: Mapping[str, str] = os.environ) -> Device:
    """The first device of `wanted` that is here.

    Raises `DeviceMissing`, with what was looked at.
    """
    why = ""
    for name in wanted:
        if name == "cpu":
            return Device("cpu", "cpu")
        gpu, why = _first_gpu(environ)
        if gpu is not None:
            return gpu
    raise DeviceMissing(
        f"the spec needs {' or '.join(wanted)}, and this machine has none: {why}",
        advice="run it on a machine with an NVIDIA GPU, or, if the failure shows there too, add `cpu` to `device:` or use "
        "--device cpu",
    )


def _first_gpu(environ: Mapping[str, str]) -> tuple[Device | None, str]:
    if environ.get("CUDA_VISIBLE_DEVICES", "unset") in ("", "-1"):
        return None, "CUDA_VISIBLE_DEVICES hides every GPU"
    import pynvml

    try:
        with _nvml():
            count = pynvml.nvmlDeviceGetCount()
            if count == 0:
                return None, "the NVIDIA driver lists no GPU"
            gpu = pynvml.nvmlDeviceGetHandleByIndex(_index(environ, count))
            major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(gpu)
            name, driver = pynvml.nvmlDeviceGetName(gpu), pynvml.nvmlSystemGetDriverVersion()
            return Device("cuda", str(name), str(driver), (int(major), int(minor))), ""
    except pynvml.NVMLError as error:
        return None, f"NVML says: {error}"


def _index(environ: Mapping[str, str], count: int) -> int:
    """The index of the first visible GPU; UUIDs and MIG names are left to the process itself."""
    first = environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip()
    return int(first) if first.isdigit() and int(first) < count else 0


@contextlib.contextmanager
def _nvml() -> Iterator[None]:
    import pynvml

    pynvml.nvmlInit()
    try:
        yield
    finally:
        pynvml.nvmlShutdown()
