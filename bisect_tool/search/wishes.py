"""What one case wants, and what is known of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bisect_tool.search.knowledge import (
    Gap,
    Known,
    Question,
    Results,
    blocked_builds,
    gaps_of,
    results_by_case,
)
from bisect_tool.search.states import Judged, State, Untestable, face, state_of

IN_VAIN = 3  # trials without a verdict that running a build again may cost


class Purpose(StrEnum):
    """Why a probe is made."""

    END = "end of the range"
    LANDMARK = "landmark"
    WALK = "walking back"
    SCAN = "scan"
    SPLIT = "split"
    VERIFY = "verify"
    PROOF = "proof of a thin build"


@dataclass(frozen=True, slots=True)
class Wish:
    """What one case wants of one build: `trials` of it, worth so many bits together."""

    case: str
    build: int
    worth: float
    purpose: Purpose
    trials: int = 1


@dataclass(frozen=True, slots=True)
class Split:
    """A gap that one case wants to be split, worth `weight` for each bit about where its change is."""

    case: str
    gap: Gap
    purpose: Purpose = Purpose.SPLIT
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class View:
    """One case: the builds with a verdict, and `in_vain` those tried without one, each oldest first."""

    case: str
    judged: Mapping[int, Judged]
    in_vain: tuple[int, ...]

    @property
    def gaps(self) -> list[Gap]:
        """The gaps between judged builds, oldest first."""
        return gaps_of(self.judged, self.in_vain)

    @property
    def open_gaps(self) -> list[Gap]:
        """The gaps between judged builds of different states."""
        return gaps_of(self.judged, self.in_vain, differing=True)

    @property
    def tried(self) -> int:
        """How many builds were tried."""
        return len(self.judged) + len(self.in_vain)

    @property
    def is_steady(self) -> bool:
        """Whether all builds with a verdict agree."""
        return len({face(state) for state in self.judged.values()}) <= 1

    def is_tried(self, build: int) -> bool:
        """Whether `build` was tried, with a verdict or in vain."""
        if build in self.judged:
            return True
        place = bisect_left(self.in_vain, build)
        return place < len(self.in_vain) and self.in_vain[place] == build

    @property
    def oldest_tried(self) -> int:
        """The oldest build that was tried; there must be one."""
        return min([*list(self.judged)[:1], *self.in_vain[:1]])


def views_of(question: Question, known: Known) -> list[View]:
    """What is known of every test, in the order of the question."""
    seen = results_by_case(known)
    blocked = blocked_builds(question, known, seen)
    in_vain = tuple(sorted(blocked))
    return [_view(case, seen.get(case, {}), blocked, in_vain) for case in question.tests]


def _view(case: str, seen: Mapping[int, Results], blocked: Mapping[int, State], in_vain: tuple[int, ...]) -> View:
    judged: dict[int, Judged] = {}
    own: list[int] = []
    for build in sorted(seen):
        state = None if build in blocked else state_of(seen[build])
        if isinstance(state, Untestable):
            own.append(build)
        elif state is not None:
            judged[build] = state
    return View(case, judged, tuple(sorted((*in_vain, *own))) if own else in_vain)
