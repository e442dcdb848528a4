"""The parts of an answer: stretches of builds that show a failure, and how sure their ends are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How sure one end of an episode is.

    `EXACT`: the two builds are neighbours, both verified. `NARROWED`: builds between them could not be tested, were not
    tried, or one side may be luck. `OPEN`: the episode reaches the edge of what could be tested.
    """

    EXACT = "exact"
    NARROWED = "narrowed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Hole:
    """A build inside an end without a verdict: `reason`, or None when it was not tried."""

    build: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class End:
    """One end of an episode, from `before` (the older build) to `after`; one of them is None when the end is open.

    `other` are the failures that the side without this failure has instead: they may hide it.
    """

    kind: Kind
    before: int | None
    after: int | None
    holes: tuple[Hole, ...] = ()
    other: frozenset[str] = frozenset()
    verified: bool = False


@dataclass(frozen=True, slots=True)
class Episode:
    """A stretch of builds that show a failure."""

    appeared: End
    fixed: End
