"""The slots of a run on this machine: one for each GPU that may be used, or as many as were asked for on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bisect_tool.reports import events
from bisect_tool.runs.device import CUDA, usable_gpus
from bisect_tool.runs.executors.local import Slot
from bisect_tool.runs.gpu_watch import GpuWatch
from bisect_tool.runs.gpus import Gpu, Nvml
from bisect_tool.runs.nvml import NoDriver, open_nvml
from bisect_tool.runs.session import Session

ONE_AT_A_TIME = "numbers are compared: one slot, and nothing is made ahead, so that nothing disturbs them"


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots, and the driver that watches over their GPUs."""

    slots: tuple[Slot, ...]
    nvml: Nvml | None = None


def compares_numbers(sessions: Sequence[Session]) -> bool:
    """Whether some trial measures something, which anything beside it would disturb."""
    return any(session.asked.has_metrics(case.name) for session in sessions for case in session.asked.spec.cases)


def open_slots(
    sessions: Sequence[Session],
    jobs: int | None,
    wait: float,
    environ: Mapping[str, str],
    tell: Callable[[events.Event], None],
    ask: Callable[[], Nvml] = open_nvml,
) -> Slots:
    """As many slots as `jobs` says; None: one for each GPU, one on the CPU. `wait`: seconds for a card that others use."""
    if compares_numbers(sessions):
        if jobs is not None and jobs > 1:
            tell(events.Notice(ONE_AT_A_TIME))
        jobs = 1
    if all(session.asked.device.name != CUDA for session in sessions):
        return Slots(_plain(jobs or 1))
    try:
        nvml = ask()
        gpus, others = usable_gpus(nvml, environ)
    except NoDriver as error:
        tell(events.Notice(f"the GPU is not watched: NVML says: {error}"))
        return Slots(_plain(jobs or 1))
    if others:
        tell(
            events.Notice(f"only the GPUs of one kind are used, {gpus[0].name}; {others} of other kinds are left alone")
        )
    if jobs is not None and jobs > len(gpus):
        tell(events.Notice(f"{len(gpus)} slots instead of {jobs}: a trial has a GPU to itself"))
    return Slots(tuple(_on(nvml, gpu, number, wait) for number, gpu in enumerate(gpus[: jobs or len(gpus)])), nvml)


def _plain(count: int) -> tuple[Slot, ...]:
    return tuple(Slot(str(number)) for number in range(1, count + 1))


def _on(nvml: Nvml, gpu: Gpu, number: int, wait: float) -> Slot:
    return Slot(f"{number + 1} ({gpu.uuid[:12]})", {"CUDA_VISIBLE_DEVICES": gpu.uuid}, GpuWatch(nvml, gpu, wait))
