"""A driver that says what a test wrote down."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bisect_tool.runs.gpus import Gpu, GpuLost, Reading

GIB = 2**30
IDLE = Reading(used=0, total=139 * GIB, processes=0, errors=0)


def card(number: int, name: str = "NVIDIA H200", slices: int = 0) -> Gpu:
    """A whole card, cut into so many slices."""
    uuid = f"GPU-{number:08x}-0000"
    cut = tuple(
        Gpu(f"MIG-{number:04x}{place:04x}-1111", f"{name} MIG 1g.18gb", (9, 0), card=uuid) for place in range(slices)
    )
    return Gpu(uuid, name, (9, 0), cut)


def crowded(gib: int, processes: int = 1) -> Reading:
    """A card of which others hold so much."""
    return replace(IDLE, used=gib * GIB, processes=processes)


@dataclass
class ScriptedNvml:
    """`script` has what each look at a device gives, in turn, the last one for ever; a text is why it does not answer."""

    cards: tuple[Gpu, ...]
    script: dict[str, list[Reading | str]] = field(default_factory=dict)
    faults: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)
    is_closed: bool = False

    def driver(self) -> str:
        """Its version."""
        return "580.159.03"

    def gpus(self) -> tuple[Gpu, ...]:
        """All cards."""
        return self.cards

    def reading(self, gpu: Gpu) -> Reading:
        """What the script says."""
        told = self.script.get(gpu.uuid, [IDLE])
        now = told.pop(0) if len(told) > 1 else told[0]
        if isinstance(now, str):
            raise GpuLost(now)
        return now

    def xids(self, gpu: Gpu) -> tuple[int, ...]:
        """What the script says."""
        told = self.faults.get(gpu.card or gpu.uuid, [])
        return told.pop(0) if told else ()

    def close(self) -> None:
        """Remember it."""
        self.is_closed = True
