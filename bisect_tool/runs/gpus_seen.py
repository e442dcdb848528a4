"""The GPUs as people want to see them: what they are, how full, who uses them. For `bisect doctor`: nothing decides on it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bisect_tool.runs.nvml import NoDriver, is_cut, slices_of, text_of


@dataclass(frozen=True, slots=True)
class GpuUser:
    """A process that has memory on a GPU: `memory` in bytes, None where the driver does not tell."""

    pid: int
    memory: int | None


@dataclass(frozen=True, slots=True)
class SeenGpu:
    """A card: `capability` (9, 0) is sm_90; `total` and `free` in bytes. `slices` are the names of its MIG slices.

    `is_cut`: MIG is on, so that the card runs nothing as a whole.
    """

    name: str
    capability: tuple[int, int]
    total: int
    free: int
    users: tuple[GpuUser, ...] = ()
    is_cut: bool = False
    slices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenGpus:
    """The cards in the order of their numbers, the version of the driver, and the newest CUDA that it brings ((13, 0))."""

    driver: str
    cuda: tuple[int, int]
    cards: tuple[SeenGpu, ...]


def see_gpus(library: Any = None) -> SeenGpus:
    """Ask the driver of this machine, through `library` (nvidia-ml-py).

    Raises `NoDriver`.
    """
    if library is None:
        import pynvml

        library = pynvml
    try:
        library.nvmlInit()
        try:
            return _seen(library)
        finally:
            library.nvmlShutdown()
    except library.NVMLError as error:
        raise NoDriver(str(error)) from error


def _seen(library: Any) -> SeenGpus:
    version = int(library.nvmlSystemGetCudaDriverVersion())
    handles = (library.nvmlDeviceGetHandleByIndex(number) for number in range(library.nvmlDeviceGetCount()))
    cards = tuple(_card(library, handle) for handle in handles)
    return SeenGpus(text_of(library.nvmlSystemGetDriverVersion()), (version // 1000, version % 1000 // 10), cards)


def _card(library: Any, handle: Any) -> SeenGpu:
    memory = library.nvmlDeviceGetMemoryInfo(handle)
    major, minor = library.nvmlDeviceGetCudaComputeCapability(handle)
    users: Sequence[Any] = ()
    with suppress(library.NVMLError):  # not every card or driver can tell
        users = library.nvmlDeviceGetComputeRunningProcesses(handle)
    return SeenGpu(
        name=text_of(library.nvmlDeviceGetName(handle)),
        capability=(int(major), int(minor)),
        total=int(memory.total),
        free=int(memory.free),
        users=tuple(GpuUser(int(one.pid), one.usedGpuMemory) for one in users),
        is_cut=is_cut(library, handle),
        slices=tuple(text_of(library.nvmlDeviceGetName(one)) for one in slices_of(library, handle)),
    )
