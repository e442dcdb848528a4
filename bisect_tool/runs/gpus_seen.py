"""The GPUs as people want to see them: what they are, how full, who uses them. For `bisect doctor`: nothing decides on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast


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


class NoGpus(Exception):
    """There is no driver, or it does not answer; the text is what it says."""


class Library(Protocol):
    """What is used of NVML (nvidia-ml-py; names and structures are NVML's)."""

    NVMLError: type[Exception]

    def nvmlInit(self) -> None:
        """Begin."""

    def nvmlShutdown(self) -> None:
        """End."""

    def nvmlSystemGetDriverVersion(self) -> str:
        """As `580.159.04`."""

    def nvmlSystemGetCudaDriverVersion(self) -> int:
        """13000 for CUDA 13.0."""

    def nvmlDeviceGetCount(self) -> int:
        """How many cards."""

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Any:
        """A card."""

    def nvmlDeviceGetName(self, handle: Any) -> str:
        """Its name."""

    def nvmlDeviceGetCudaComputeCapability(self, handle: Any) -> Any:
        """Major and minor."""

    def nvmlDeviceGetMemoryInfo(self, handle: Any) -> Any:
        """With `total` and `free`, in bytes."""

    def nvmlDeviceGetComputeRunningProcesses(self, handle: Any) -> Any:
        """With `pid` and `usedGpuMemory` each."""

    def nvmlDeviceGetMigMode(self, handle: Any) -> Any:
        """Now and after the next reset; 1 is on."""

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: Any) -> int:
        """How many slices there can be."""

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Any, index: int) -> Any:
        """A slice."""


def see_gpus(library: Library | None = None) -> SeenGpus:
    """Ask the driver of this machine, or `library`.

    Raises `NoGpus`.
    """
    if library is None:
        import pynvml

        library = cast("Library", pynvml)
    try:
        library.nvmlInit()
        try:
            return _seen(library)
        finally:
            library.nvmlShutdown()
    except library.NVMLError as error:
        raise NoGpus(str(error)) from error


def _seen(library: Library) -> SeenGpus:
    version = int(library.nvmlSystemGetCudaDriverVersion())
    handles = (library.nvmlDeviceGetHandleByIndex(number) for number in range(library.nvmlDeviceGetCount()))
    cards = tuple(_card(library, handle) for handle in handles)
    return SeenGpus(str(library.nvmlSystemGetDriverVersion()), (version // 1000, version % 1000 // 10), cards)


def _card(library: Library, handle: Any) -> SeenGpu:
    memory = library.nvmlDeviceGetMemoryInfo(handle)
    major, minor = library.nvmlDeviceGetCudaComputeCapability(handle)
    users = _optional(library, lambda: library.nvmlDeviceGetComputeRunningProcesses(handle)) or ()
    mode = _optional(library, lambda: library.nvmlDeviceGetMigMode(handle))
    is_cut = bool(mode and mode[0])
    return SeenGpu(
        name=str(library.nvmlDeviceGetName(handle)),
        capability=(int(major), int(minor)),
        total=int(memory.total),
        free=int(memory.free),
        users=tuple(GpuUser(int(one.pid), one.usedGpuMemory) for one in users),
        is_cut=is_cut,
        slices=tuple(_slices(library, handle)) if is_cut else (),
    )


def _slices(library: Library, handle: Any) -> Iterator[str]:
    for number in range(library.nvmlDeviceGetMaxMigDeviceCount(handle)):
        found = _optional(library, lambda: library.nvmlDeviceGetMigDeviceHandleByIndex(handle, number))  # noqa: B023  at once
        if found is not None:
            yield str(library.nvmlDeviceGetName(found))


def _optional(library: Library, ask: Callable[[], Any]) -> Any:
    """What not every card or driver can tell: None then."""
    try:
        return ask()
    except library.NVMLError:
        return None
