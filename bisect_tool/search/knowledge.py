"""The question, and everything known about it so far: the input of the planner and of the answer."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from bisect_tool.search.states import Judged, Passing, Result, State, Untestable, face, state_of


@dataclass(frozen=True, slots=True)
class Question:
    """Builds 0 to `size` - 1, oldest first; the cases by name.

    With `open_start` the beginning is unknown: the search walks back from the newest build.
    """

    size: int
    tests: tuple[str, ...]
    controls: tuple[str, ...] = ()
    open_start: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """`results` by (case, build); `broken`: builds that cannot be installed or proven, with the reason.

    `ready` are the builds whose environment is here already: they cost less.
    """

    results: Mapping[tuple[str, int], tuple[Result, ...]] = field(default_factory=dict)
    broken: Mapping[int, str] = field(default_factory=dict)
    ready: frozenset[int] = frozenset()


def control_state(question: Question, known: Known, build: int) -> Untestable | None:
    """Why `build` is untestable for every test: it is broken, or a control did not pass on it."""
    if build in known.broken:
        return Untestable(known.broken[build])
    for control in question.controls:
        state = state_of(known.results.get((control, build), ()))
        if state is None or isinstance(state, Passing):
            continue
        if isinstance(state, Untestable):
            return Untestable(f"control {control} cannot judge: {state.reason}")
        word = "is flaky" if len(known.results[control, build]) > 1 else "fails"
        return Untestable(f"control {control} {word}: {', '.join(sorted(face(state)))}")
    return None


def state_at(question: Question, known: Known, case: str, build: int) -> State | None:
    """The state of a case on a build; None while it is unknown."""
    if case not in question.controls and (blocked := control_state(question, known, build)) is not None:
        return blocked
    if build in known.broken:
        return Untestable(known.broken[build])
    return state_of(known.results.get((case, build), ()))


def timeline(question: Question, known: Known, case: str) -> dict[int, State]:
    """The known states of one case by build, in the order of the builds."""
    touched = {build for name, build in known.results if name == case or name in question.controls} | set(known.broken)
    states = ((build, state_at(question, known, case, build)) for build in sorted(touched))
    return {build: state for build, state in states if state is not None}


@dataclass(frozen=True, slots=True)
class Gap:
    """Two judged builds with nothing judged between; `untestable` are the builds between that were tried in vain."""

    before: int
    after: int
    untestable: tuple[int, ...]
    differs: bool

    @property
    def untried(self) -> int:
        """How many builds between were never tried."""
        return self.after - self.before - 1 - len(self.untestable)


def judged_of(states: Mapping[int, State]) -> dict[int, Judged]:
    """Only the builds with a verdict."""
    return {build: state for build, state in states.items() if not isinstance(state, Untestable)}


def gaps_of(states: Mapping[int, State]) -> list[Gap]:
    """The gaps between neighbouring judged builds of a timeline, also those of neighbours in the range.

    `states` must be in the order of the builds, as `timeline` gives it.
    """
    judged = judged_of(states)
    in_vain = [build for build, state in states.items() if isinstance(state, Untestable)]
    return [
        Gap(
            before,
            after,
            tuple(in_vain[bisect_right(in_vain, before) : bisect_left(in_vain, after)]),
            face(judged[before]) != face(judged[after]),
        )
        for before, after in pairwise(judged)
    ]
