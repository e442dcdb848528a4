"""Lanes: which jobs a worker may take, by the devices that it has.

A question whose spec wants a GPU alone is in the lane `cuda`, one that wants the CPU first in `cpu`, and one that takes a
GPU where there is one in `any`: that is a worker with a GPU as long as there is one at all, so that an answer does not depend
on who was free. Once a job has made a trial it belongs to hosts of that kind (`cpu`, `cuda:NVIDIA H200`), because only there
its trials count; it goes back to the wide lane when no such worker is left.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from bisect_tool.errors import DeviceMissing, SettingError
from bisect_tool.runs.device import CUDA, choose_device
from bisect_tool.runs.nvml import open_nvml
from bisect_tool.spec.model import Spec

CPU, ANY = "cpu", "any"


def lane_of(spec: Spec) -> str:
    """The lane of a question."""
    if spec.device[0] == CPU:
        return CPU
    return ANY if CPU in spec.device else CUDA


def lanes_here(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The lanes of this host."""
    try:
        return lanes_with(choose_device((CUDA,), environ, open_nvml).kind)
    except DeviceMissing:
        return lanes_with(None)


def lanes_with(card: str | None) -> tuple[str, ...]:
    """The lanes of a host with GPUs of the kind `card`; None: without one."""
    return (CPU, ANY) if card is None else (f"{CUDA}:{card}", CUDA, ANY, CPU)


def own_lane(lane: str, lanes: Sequence[str]) -> str:
    """The lane of a host's kind for a job of `lane`, which is one of its `lanes`."""
    if lane == CPU:
        return CPU
    return next((one for one in lanes if one.startswith(f"{CUDA}:")), CPU)


def device_of(lane: str) -> str | None:
    """The device that a job in the lane of a kind of host must use; None: the spec decides."""
    return {CPU: CPU, CUDA: CUDA, ANY: None}.get(lane, CUDA)


def open_to(lanes: Sequence[str], alive: Collection[str]) -> frozenset[str]:
    """The lanes in which a worker with `lanes` may begin a job; `alive` has the lanes of every worker."""
    return frozenset(lanes) - ({ANY} if CUDA in alive and CUDA not in lanes else set())


def chosen_lanes(text: str | None, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The lanes of this host, or those of them that `text` names. Raises `SettingError` for one that it has not."""
    here = lanes_here(environ)
    wanted = tuple(word.strip() for word in text.split(",")) if text else here
    if others := [word for word in wanted if word not in here]:
        raise SettingError(
            f"this host has no lane {', '.join(others)}", where="--lanes", advice=f"it has {', '.join(here)}"
        )
    own = tuple(lane for lane in here if lane.startswith(f"{CUDA}:") and CUDA in wanted)
    return tuple(dict.fromkeys((*own, *wanted)))
