"""What is asked of NVML, and what is made of its refusals; its functions are replaced, its constants and errors are its own."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from bisect_tool.runs.gpu_watch import GpuWatch
from bisect_tool.runs.gpus import SICK, GpuLost, Reading
from bisect_tool.runs.nvml import NoDriver, RealNvml, open_nvml


class Library:
    """Functions of NVML as a machine with these cards answers; a card is (name, slices)."""

    def __init__(self, *cards: tuple[str, int], **answers: Any) -> None:
        self.cards = cards
        self.answers = answers
        self.events = [list(answers.pop("xids", []))]

    def __getattr__(self, name: str) -> Any:
        if name in self.answers:
            return lambda *_args, **_more: _given(self.answers[name])
        return getattr(pynvml, name)

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, number: int) -> Any:  # noqa: N802
        return (number, None)

    def nvmlDeviceGetUUID(self, handle: Any) -> bytes | str:  # noqa: N802
        number, place = handle
        return f"GPU-{number}".encode() if place is None else f"MIG-{number}-{place}"

    def nvmlDeviceGetName(self, handle: Any) -> str:  # noqa: N802
        return str(self.cards[handle[0]][0])

    def nvmlDeviceGetCudaComputeCapability(self, handle: Any) -> tuple[int, int]:  # noqa: N802
        assert handle[1] is None
        return 9, 0

    def nvmlDeviceGetMigMode(self, handle: Any) -> list[int]:  # noqa: N802
        if not self.cards[handle[0]][1]:
            raise pynvml.NVMLError_NotSupported
        return [1, 1]

    def nvmlDeviceGetMaxMigDeviceCount(self, _handle: Any) -> int:  # noqa: N802
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Any, place: int) -> Any:  # noqa: N802
        if place >= self.cards[handle[0]][1]:
            raise pynvml.NVMLError_NotFound
        return (handle[0], place)

    def nvmlDeviceGetMemoryInfo(self, _handle: Any, version: int | None = None) -> Any:  # noqa: N802
        if self.answers.get("old") and version is not None:
            raise pynvml.NVMLError_FunctionNotFound
        return SimpleNamespace(used=5 if version else 600, total=1000)

    def nvmlDeviceGetComputeRunningProcesses(self, _handle: Any) -> list[Any]:  # noqa: N802
        return [SimpleNamespace(pid=1, usedGpuMemory=None)]

    def nvmlDeviceGetTotalEccErrors(self, handle: Any, _kind: int, _counter: int) -> int:  # noqa: N802
        assert handle[1] is None
        return 2

    def nvmlEventSetCreate(self) -> int:  # noqa: N802
        return 77

    def nvmlDeviceRegisterEvents(self, handle: Any, kinds: int, _events: int) -> None:  # noqa: N802
        assert handle[1] is None
        assert kinds == pynvml.nvmlEventTypeXidCriticalError

    def nvmlEventSetWait_v2(self, _events: int, timeout: int) -> Any:  # noqa: N802
        assert timeout == 0
        if not self.events[0]:
            raise pynvml.NVMLError_Timeout
        return SimpleNamespace(eventType=pynvml.nvmlEventTypeXidCriticalError, eventData=self.events[0].pop(0))

    def nvmlEventSetFree(self, _events: int) -> None:  # noqa: N802
        pass


def _given(answer: Any) -> Any:
    if isinstance(answer, type):
        raise answer
    return answer


def test_cards_and_slices_are_listed_whatever_text_is_made_of() -> None:
    found = RealNvml(Library(("NVIDIA H200", 0), ("NVIDIA H200", 2))).gpus()
    assert [(gpu.uuid, [one.uuid for one in gpu.slices]) for gpu in found] == [
        ("GPU-0", []), ("GPU-1", ["MIG-1-0", "MIG-1-1"])
    ]  # fmt: skip
    assert found[1].slices[0].card == "GPU-1"


def test_a_reading_takes_the_memory_without_that_of_the_driver() -> None:
    nvml = RealNvml(Library(("NVIDIA H200", 1)))
    whole = nvml.gpus()[0]
    assert nvml.reading(whole) == nvml.reading(whole.slices[0]) == Reading(5, 1000, 1, 2)


def test_what_a_card_does_not_offer_is_left_out() -> None:
    names = ("nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceRegisterEvents")
    refused = dict.fromkeys(names, pynvml.NVMLError_NotSupported)
    nvml = RealNvml(_refusing(Library(("NVIDIA T4", 0), old=True), refused))
    card = nvml.gpus()[0]
    assert nvml.reading(card) == Reading(600, 1000, 0, None)
    assert nvml.xids(card) == ()


def test_a_lost_card_is_told_as_such() -> None:
    library = _refusing(Library(("NVIDIA H200", 0)), {"nvmlDeviceGetMemoryInfo": pynvml.NVMLError_GpuIsLost})
    nvml = RealNvml(library)
    card = nvml.gpus()[0]
    with pytest.raises(GpuLost, match="does not answer"):
        nvml.reading(card)


def test_xids_are_told_once_to_each_slice_of_the_card() -> None:
    nvml = RealNvml(Library(("NVIDIA H200", 2), xids=[31, 79]))
    piece, other = nvml.gpus()[0].slices
    assert nvml.xids(piece) == (31, 79)
    assert nvml.xids(piece) == ()
    assert nvml.xids(other) == (31, 79)


def test_a_driver_that_answers_nothing_is_none() -> None:
    library = _refusing(Library(), {"nvmlDeviceGetCount": pynvml.NVMLError_Unknown})
    with pytest.raises(NoDriver):
        RealNvml(library).gpus()


def _refusing(library: Library, refused: dict[str, type[Exception]]) -> Any:
    class Refusing:
        def __getattr__(self, name: str) -> Any:
            if name in refused:
                return lambda *_args, **_more: _given(refused[name])
            return getattr(library, name)

    return Refusing()


@pytest.mark.gpu
def test_the_driver_of_this_machine() -> None:
    """On a machine with a GPU: everything that is asked of NVML is answered."""
    try:
        nvml = open_nvml()
    except NoDriver as why:
        pytest.skip(f"no GPU here: {why}")
    with closing(nvml):
        cards = nvml.gpus()
        devices = [device for card in cards for device in (card.slices or (card,))]
        assert devices
        assert nvml.driver()[0].isdigit()
        for device in devices:
            assert device.uuid.startswith(("GPU-", "MIG-"))
            reading = nvml.reading(device)
            assert 0 <= reading.used < reading.total
            assert not SICK.intersection(nvml.xids(device))
            watch = GpuWatch(nvml, device)
            watch.begin(lambda _seconds: None, print)
            assert watch.end().total == reading.total
