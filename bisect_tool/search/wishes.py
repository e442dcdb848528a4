"""What one case wants, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bisect_tool.search.knowledge import Gap, Known, Question, gaps_of, judged_of, timeline
from bisect_tool.search.states import Judged, State, face


class Purpose(StrEnum):
    """Why a probe is made."""

    END = "end of the range"
    WALK = "walking back"
    SCAN = "scan"
    SPLIT = "split"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class Wish:
    """What one case wants of one build."""

    case: str
    build: int
    worth: float
    purpose: Purpose


@dataclass(frozen=True, slots=True)
class View:
    """One case: its states by build, oldest first; those with a verdict; the gaps between them."""

    case: str
    states: dict[int, State]
    judged: dict[int, Judged]
    gaps: tuple[Gap, ...]

    @property
    def is_steady(self) -> bool:
        """Whether all builds with a verdict agree."""
        return len({face(state) for state in self.judged.values()}) <= 1


def view_of(question: Question, known: Known, case: str) -> View:
    """What is known of one case."""
    states = timeline(question, known, case)
    return View(case, states, judged_of(states), tuple(gaps_of(states)))
