"""A driver's management library (NVML) for machines without one: cards as the test wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import pynvml


class Broken(pynvml.NVMLError):  # type: ignore[misc]
    """An error that says what the test wants."""

    def __new__(cls, _said: str) -> Self:
        return Exception.__new__(cls)

    def __init__(self, said: str) -> None:
        self.said = said

    def __str__(self) -> str:
        return self.said


@dataclass(frozen=True, slots=True)
class Memory:
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    usedGpuMemory: int | None  # noqa: N815  NVML's name


@dataclass(frozen=True, slots=True)
class Card:
    """`slices` None: the card cannot be cut up, and says so with an error."""

    name: str
    capability: tuple[int, int]
    memory: Memory
    processes: tuple[Process, ...] = ()
    slices: tuple[str, ...] | None = None


@dataclass(slots=True)
class FakeLibrary:
    """`broken`: what `nvmlInit` says instead of beginning. `open` counts beginnings without an end."""

    cards: tuple[Card, ...] = ()
    driver: str = "580.159.04"
    cuda: int = 13000
    broken: str | None = None
    open: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(pynvml, name)  # constants and errors

    def nvmlInit(self) -> None:
        if self.broken:
            raise Broken(self.broken)
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return self.driver

    def nvmlSystemGetCudaDriverVersion(self) -> int:
        return self.cuda

    def nvmlDeviceGetCount(self) -> int:
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Card:
        return self.cards[index]

    def nvmlDeviceGetName(self, handle: Any) -> str:
        return handle if isinstance(handle, str) else str(handle.name)

    def nvmlDeviceGetCudaComputeCapability(self, handle: Card) -> tuple[int, int]:
        return handle.capability

    def nvmlDeviceGetMemoryInfo(self, handle: Card) -> Memory:
        return handle.memory

    def nvmlDeviceGetComputeRunningProcesses(self, handle: Card) -> tuple[Process, ...]:
        return handle.processes

    def nvmlDeviceGetMigMode(self, handle: Card) -> tuple[int, int]:
        if handle.slices is None:
            raise pynvml.NVMLError_NotSupported
        return (1, 1) if handle.slices else (0, 0)

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: Card) -> int:
        return 0 if handle.slices is None else 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Card, index: int) -> str:
        if handle.slices is None or index >= len(handle.slices):
            raise pynvml.NVMLError_NotFound
        return handle.slices[index]


GIB = 2**30
H200 = Card("NVIDIA H200", (9, 0), Memory(139 * GIB, 138 * GIB), slices=())
BUSY_L4 = Card("NVIDIA L4", (8, 9), Memory(22 * GIB, 4 * GIB), (Process(4711, 18 * GIB), Process(4712, None)))
SLICED_H200 = Card("NVIDIA H200", (9, 0), Memory(139 * GIB, 139 * GIB), slices=("H200 MIG 1g.18gb", "H200 MIG 3g.71gb"))
V100 = Card("Tesla V100-SXM2-16GB", (7, 0), Memory(16 * GIB, 16 * GIB))
