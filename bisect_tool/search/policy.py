"""How thorough a search is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Flakiness(StrEnum):
    """Whether a failure may come and go on one build (`flaky/`).

    `AUTO`: a case counts as flaky once two trials of one build disagree, and both ends are run a few times more to notice.
    `YES`: every case counts as flaky from the start. `NO`: nothing is spent on it, and `luck` decides about single builds.
    """

    AUTO = "auto"
    YES = "yes"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Policy:
    """`verify`: fresh trials that both sides of a transition need on top of the first. `scan`: builds to spread first.

    With `scan` None a case that would end without any change is scanned by halving its largest gaps, with as many probes
    as a bisection of the range takes. `most_trials` bounds what is spent on one side of a flaky transition. `aside`: with
    `verify`, no stretch of this share of the range or more may be left untried between two builds that agree once a change
    was found, because another failure may hide there; None: nothing is looked for there. `flaky`: see `Flakiness`; a change
    of rate is named with `confidence`, for at most `most_flaky_trials` trials. `trust`: one trial of a build is believed,
    nothing is run again to verify or to notice flakiness. `thin`: the search only says where another one is to look, so that
    nothing is run again there either; it looks aside as the other one would.
    """

    verify: int = 2
    scan: int | None = None
    most_trials: int = 40
    aside: float | None = 0.3
    flaky: Flakiness = Flakiness.NO
    confidence: float = 0.99
    most_flaky_trials: int = 1000
    trust: bool = False
    thin: bool = False

    @property
    def repeats(self) -> int:
        """Fresh trials that both sides of a transition need on top of the first."""
        return 0 if self.trust or self.thin else self.verify

    @property
    def looks_aside(self) -> bool:
        """Whether wide stretches between two builds that agree are looked into once a change was found."""
        return self.aside is not None and not self.trust and self.verify > 0
