"""The NVIDIA driver, asked through its management library (nvidia-ml-py; field and function names are those of NVML)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from bisect_tool.runs.gpus import Gpu, GpuLost, Reading


class NoDriver(Exception):
    """There is no driver here, or it does not answer; the text is what it said."""


class RealNvml:
    """NVML, from `open_nvml` until it is closed; may be asked from any thread."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handles: dict[str, Any] = {}
        self._watches: dict[str, Any] = {}
        self._xids: dict[str, list[int]] = {}  # by card, since its watch began
        self._told: dict[str, int] = {}  # how many of them each device was told of
        self._lock = threading.Lock()

    def driver(self) -> str:
        """Its version."""
        return text_of(self._library.nvmlSystemGetDriverVersion())

    def gpus(self) -> tuple[Gpu, ...]:
        """All cards, in the order of their numbers. Raises `NoDriver`."""
        with self._answering():
            count = self._library.nvmlDeviceGetCount()
            return tuple(self._card(self._library.nvmlDeviceGetHandleByIndex(number)) for number in range(count))

    def _card(self, handle: Any) -> Gpu:
        whole = self._gpu(handle, None, handle)
        slices = tuple(self._gpu(one, whole.uuid, handle) for one in slices_of(self._library, handle))
        return Gpu(whole.uuid, whole.name, whole.capability, slices)

    def _gpu(self, handle: Any, card: str | None, card_handle: Any) -> Gpu:
        library = self._library
        uuid = text_of(library.nvmlDeviceGetUUID(handle))
        # A slice has the architecture of its card, which alone is sure to be told.
        major, minor = library.nvmlDeviceGetCudaComputeCapability(card_handle)
        self._handles[uuid] = handle
        return Gpu(uuid, text_of(library.nvmlDeviceGetName(handle)), (int(major), int(minor)), card=card)

    def reading(self, gpu: Gpu) -> Reading:
        """How the device is. Raises `GpuLost` when it does not answer."""
        handle = self._handles[gpu.uuid]
        try:
            used, total = self._memory(handle)
            return Reading(used, total, self._processes(handle), self._errors(gpu))
        except self._library.NVMLError as error:
            raise GpuLost(f"it does not answer: {error}") from error

    def _memory(self, handle: Any) -> tuple[int, int]:
        library = self._library
        try:
            # The second version leaves out what the driver keeps for itself.
            memory = library.nvmlDeviceGetMemoryInfo(handle, version=library.nvmlMemory_v2)
        except (library.NVMLError_NotSupported, library.NVMLError_FunctionNotFound, library.NVMLError_InvalidArgument):
            memory = library.nvmlDeviceGetMemoryInfo(handle)
        return int(memory.used), int(memory.total)

    def _processes(self, handle: Any) -> int:
        library = self._library
        with suppress(
            library.NVMLError_NotSupported, library.NVMLError_NoPermission, library.NVMLError_FunctionNotFound
        ):
            return len(library.nvmlDeviceGetComputeRunningProcesses(handle))
        return 0

    def _errors(self, gpu: Gpu) -> int | None:
        library = self._library
        unsupported = (
            library.NVMLError_NotSupported,
            library.NVMLError_NoPermission,
            library.NVMLError_FunctionNotFound,
            library.NVMLError_InvalidArgument,
        )
        with suppress(*unsupported):
            return int(
                library.nvmlDeviceGetTotalEccErrors(
                    self._handles[gpu.card or gpu.uuid],
                    library.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
                    library.NVML_VOLATILE_ECC,
                )
            )
        return None

    def xids(self, gpu: Gpu) -> tuple[int, ...]:
        """The Xid errors of its card since this was asked last for this device; empty where the driver does not tell."""
        card = gpu.card or gpu.uuid
        with self._lock:
            if card not in self._watches:
                self._watches[card] = self._watch(self._handles[card])
            found = self._xids.setdefault(card, [])
            found += self._events(self._watches[card])
            new = tuple(found[self._told.get(gpu.uuid, 0) :])
            self._told[gpu.uuid] = len(found)
        return new

    def _events(self, watch: Any) -> Iterator[int]:
        """The Xid errors that were not fetched yet."""
        library = self._library
        while watch is not None:
            try:
                event = library.nvmlEventSetWait_v2(watch, 0)
            except library.NVMLError:  # NVMLError_Timeout: nothing more; whether the card is lost shows in its reading
                return
            if event.eventType == library.nvmlEventTypeXidCriticalError:
                yield int(event.eventData)

    def _watch(self, handle: Any) -> Any:
        """An event set for Xid errors; None where the driver has none (in some containers, on some cards)."""
        library = self._library
        try:
            events = library.nvmlEventSetCreate()
        except library.NVMLError:
            return None
        try:
            library.nvmlDeviceRegisterEvents(handle, library.nvmlEventTypeXidCriticalError, events)
        except library.NVMLError:
            library.nvmlEventSetFree(events)
            return None
        return events

    def close(self) -> None:
        """Let go of the driver."""
        library = self._library
        with suppress(library.NVMLError):
            for events in self._watches.values():
                if events is not None:
                    library.nvmlEventSetFree(events)
            self._watches.clear()
            library.nvmlShutdown()

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except self._library.NVMLError as error:
            raise NoDriver(str(error)) from error


def open_nvml() -> RealNvml:
    """The driver of this machine. Raises `NoDriver`."""
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise NoDriver(str(error)) from error
    return RealNvml(pynvml)


def is_cut(library: Any, handle: Any) -> bool:
    """Whether a card is cut up into MIG slices, so that it runs nothing as a whole."""
    try:
        current, _pending = library.nvmlDeviceGetMigMode(handle)
    except (library.NVMLError_NotSupported, library.NVMLError_FunctionNotFound):
        return False
    return bool(current == library.NVML_DEVICE_MIG_ENABLE)


def slices_of(library: Any, handle: Any) -> Iterator[Any]:
    """The handles of the MIG slices of a card."""
    if not is_cut(library, handle):
        return
    for number in range(library.nvmlDeviceGetMaxMigDeviceCount(handle)):
        with suppress(library.NVMLError_NotFound, library.NVMLError_InvalidArgument):
            yield library.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)


def text_of(value: str | bytes) -> str:
    """Older versions of the library give bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
