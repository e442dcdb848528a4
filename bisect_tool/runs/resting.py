"""Slots without room where they are: their work is for others, and they try again later."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from bisect_tool.runs.executors import SlotFull


@dataclass(slots=True)
class Resting:
    """The `slots` that rest. Time is counted in trials of the run that ended: each may have left room behind."""

    _since: dict[int, tuple[int, SlotFull]] = field(default_factory=dict)
    _went_well: int = 0

    @property
    def slots(self) -> frozenset[int]:
        """Those that get no work."""
        return frozenset(self._since)

    def lay(self, slot: int, why: SlotFull) -> None:
        """It rests from now on."""
        self._since[slot] = (self._went_well, why)

    def went_well(self) -> None:
        """A trial has ended. That an environment was opened says nothing: one that was here takes no room, its trials do."""
        self._went_well += 1

    def rouse(self, slots: Iterable[int]) -> list[int]:
        """Those of `slots` that rested, and do so no longer."""
        return [slot for slot in slots if self._since.pop(slot, None) is not None]

    def rouse_earlier(self) -> list[int]:
        """With nothing under way: those that had no room before something went well try again.

        Raises the `DiskFull` of the last one when there is none: no slot can go on.
        """
        earlier = [slot for slot, (at, _) in self._since.items() if at < self._went_well]
        if not earlier:
            _, last = list(self._since.values())[-1]
            raise last.error from last
        return self.rouse(earlier)
