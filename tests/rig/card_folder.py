"""A driver with two cards for processes of other nodes: a file named after a card makes that one sick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.rig.scripted_nvml import IDLE, ScriptedNvml, card

CARDS = (card(0), card(1))


@dataclass(frozen=True)
class CardFolder:
    """Opens the driver; can be sent to another process."""

    folder: Path

    def __call__(self) -> ScriptedNvml:
        """The cards as they are now."""
        sick = {one.uuid for one in CARDS if (self.folder / one.uuid).exists()}
        return ScriptedNvml(
            CARDS, {one.uuid: ["it has fallen off the bus" if one.uuid in sick else IDLE] for one in CARDS}
        )
