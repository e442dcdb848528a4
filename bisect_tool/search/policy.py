"""How thorough a search is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """`verify`: fresh trials that both sides of a transition need on top of the first. `scan`: builds to spread first.

    With `scan` None a case that would end without any change is scanned by halving its largest gaps, with as many probes
    as a bisection of the range takes. `most_trials` bounds what is spent on one side of a flaky transition. `aside`: with
    `verify`, no stretch of this share of the range or more may be left untried between two builds that agree once a change
    was found, because another failure may hide there; None: nothing is looked for there.
    """

    verify: int = 2
    scan: int | None = None
    most_trials: int = 40
    aside: float | None = 0.3
