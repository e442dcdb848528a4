"""Comparisons: the trials of a build and of the reference build that were made in turn.

Each trial of a comparison is stored like any other, with a note (`Note`) that says which comparison it belongs to. What
the comparison says is worked out anew from the stored trials each time (`settling`), so that another ratio in the spec
needs no new trials. One comparison counts as one trial of the case on the build.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from bisect_tool.search.metrics.comparison import Different, Same, Undecided
from bisect_tool.spec.model import Metric
from bisect_tool.trials.failure import Verdict
from bisect_tool.trials.observation import Observation

NOTE = "measured"  # the key of the note beside the fields of a stored observation


class Side(StrEnum):
    """Which of the two builds a trial ran."""

    REFERENCE = "reference"
    BUILD = "build"


@dataclass(frozen=True, slots=True)
class Note:
    """What a stored trial says of the comparison that it was made for.

    `about` is the key of the build under test, `against` that of the reference (`Session.trial_key`). `machine` is the
    machine since its last start: a comparison is never continued elsewhere.
    """

    comparison: str
    about: str
    against: str
    side: Side
    pair: int
    machine: str

    def as_values(self) -> dict[str, Any]:
        """Plain values for the database."""
        return {NOTE: asdict(self)}


def note_of(values: Mapping[str, Any]) -> Note | None:
    """The note of a stored observation."""
    noted = values.get(NOTE)
    return None if noted is None else Note(**{**noted, "side": Side(noted["side"])})


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison said of one metric, with the numbers that it rests on, in pairs."""

    metric: Metric
    finding: Same | Different | Undecided
    reference: tuple[float, ...]
    build: tuple[float, ...]

    def __str__(self) -> str:
        found, unit = self.finding.estimate, f" {self.metric.unit}" if self.metric.unit else ""
        word = type(self.finding).__name__.lower()
        return (
            f"{self.metric.name} {found.build:.4g}{unit} against {found.reference:.4g}{unit}: {found.ratio:.2f}x "
            f"({found.low:.2f} to {found.high:.2f}) after {found.samples} trials of each build, {word}"
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """A trial of a comparison; `kept` is the address of its log where logs are shared."""

    observation: Observation
    verdict: Verdict
    folder: str
    command: str
    kept: str | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """A comparison that needs no more trials."""

    verdict: Verdict
    compared: tuple[Compared, ...] = ()


@dataclass(slots=True)
class Comparison:
    """The trials of one comparison by pair and side; a trial that was made again counts as it was the last time."""

    note: Note
    trials: dict[tuple[int, Side], Measured] = field(default_factory=dict)
    settled: Settled | None = None

    @property
    def pairs(self) -> int:
        """How many pairs are complete, from the first one on."""
        number = 0
        while all((number, side) in self.trials for side in Side):
            number += 1
        return number

    def of(self, side: Side, pairs: int) -> tuple[Measured, ...]:
        """The trials of one side in the first `pairs`, which are complete."""
        return tuple(self.trials[number, side] for number in range(pairs))
