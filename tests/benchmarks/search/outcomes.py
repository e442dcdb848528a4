"""The seeded histories of flaky failures that every search is measured on, and how one search ended."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.search.flaky.searching import Outcomes, stepped

BUILDS = 60
CHANGES = ((0.0, 1.0), (0.0, 0.5), (0.0, 0.2), (0.05, 1.0), (0.1, 0.9), (0.1, 0.5), (0.2, 0.8))
NO_CHANGES = (0.05, 0.2, 0.5)


@dataclass(frozen=True, slots=True)
class Run:
    """How one search ended. `named` is the first build after the change, None when none was named."""

    true: int | None
    named: int | None
    trials: int
    installs: int
    chance: float = 0.0
    said_no_change: bool = False


def history(before: float, after: float, seed: int) -> tuple[int | None, Outcomes]:
    """The first build with the rate `after` (None when the rates are the same), and what its trials show."""
    at = random.Random(seed).randrange(1, BUILDS)
    rates = stepped((at, before), (BUILDS - at, after))
    return (None if before == after else at), Outcomes(rates, seed)
