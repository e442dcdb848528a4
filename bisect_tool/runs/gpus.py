"""The GPUs of a machine: whole cards and MIG slices, and which of them this process may use.

The driver is asked through `Nvml`, four questions wide; `bisect_tool.runs.nvml` asks the real one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

# Xid numbers after which a card must not be trusted (NVIDIA, "XID Errors"): uncorrectable memory errors (48, 64, 95), contained
# ones and failed remapping (63 is a success and left out), NVLink (74), off the bus (79), broken firmware (62, 119, 120, 140).
# Others, such as 13, 31 and 43, come from the program: an illegal memory access is a failure like any other.
SICK = frozenset({48, 62, 64, 74, 79, 92, 94, 95, 119, 120, 140})


class GpuLost(Exception):
    """The card does not answer, or must not be trusted; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device: a whole card, or a MIG slice of one.

    `uuid` (`GPU-…`, `MIG-…`) is what CUDA_VISIBLE_DEVICES takes. `slices` are the MIG slices of a card that is cut up; such a
    card runs nothing as a whole. `card` is the UUID of the card of a slice.
    """

    uuid: str
    name: str
    capability: tuple[int, int]
    slices: tuple[Gpu, ...] = ()
    card: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a device says of itself: bytes in `used` and in `total`, and uncorrected memory errors since the driver started.

    `processes` are those that have memory on it; `errors` is None where the device does not count them.
    """

    used: int
    total: int
    processes: int
    errors: int | None = None


class Nvml(Protocol):
    """The driver."""

    def driver(self) -> str:
        """Its version."""

    def gpus(self) -> tuple[Gpu, ...]:
        """All cards, in the order of their numbers."""

    def reading(self, gpu: Gpu) -> Reading:
        """How the device is. Raises `GpuLost` when it does not answer."""

    def xids(self, gpu: Gpu) -> tuple[int, ...]:
        """The Xid errors of its card since this was asked last; empty where the driver does not tell."""

    def close(self) -> None:
        """Let go of the driver."""


def visible(cards: Sequence[Gpu], environ: Mapping[str, str]) -> tuple[Gpu, ...]:
    """The devices that CUDA_VISIBLE_DEVICES leaves, in its order; slices instead of a card that is cut up.

    As in CUDA's programming guide: numbers, UUIDs or the beginning of one, MIG UUIDs; what comes after the first word that
    names nothing is not seen. Numbers are those of the driver (CUDA_DEVICE_ORDER=PCI_BUS_ID).
    """
    text = environ.get("CUDA_VISIBLE_DEVICES")
    if text is None:
        return tuple(device for card in cards for device in _devices(card))
    found: dict[str, Gpu] = {}
    for word in text.split(","):
        named = _named(cards, word.strip())
        if not named:
            break
        found |= {device.uuid: device for device in named}
    return tuple(found.values())


def _named(cards: Sequence[Gpu], word: str) -> tuple[Gpu, ...]:
    if word.isdigit():
        return _devices(cards[int(word)]) if int(word) < len(cards) else ()
    if word.startswith("MIG-"):
        slices = [one for card in cards for one in card.slices if one.uuid.startswith(word)]
        return tuple(slices) if len(slices) == 1 else ()
    matching = [card for card in cards if word.startswith("GPU-") and card.uuid.startswith(word)]
    return _devices(matching[0]) if len(matching) == 1 else ()


def _devices(card: Gpu) -> tuple[Gpu, ...]:
    return card.slices or (card,)


def alike(devices: Sequence[Gpu]) -> tuple[Gpu, ...]:
    """Those of the same kind as the first: results of other kinds are not compared with its."""
    return tuple(device for device in devices if device.name == devices[0].name)
