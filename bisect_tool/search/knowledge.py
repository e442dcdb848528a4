"""The question, and everything known about it so far: the input of the planner and of the answer."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from bisect_tool.search.prices import Prices
from bisect_tool.search.states import Hint, Judged, Passing, Result, State, Untestable, face, state_of

Results = tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """Builds 0 to `size` - 1, oldest first; the cases by name.

    With `open_start` the beginning is unknown: the search walks back from the newest build. `landmarks` are builds that
    must be judged like the ends. `weights[i]` says how likely, next to the others, a change lies between build i - 1 and
    build i (`weights[0]` says nothing); None: everywhere alike. Weights save probes and never change the answer.
    A trial of one of the `compared` cases is a whole comparison of numbers, which has seen to chance by itself.
    """

    size: int
    tests: tuple[str, ...]
    controls: tuple[str, ...] = ()
    open_start: bool = False
    landmarks: tuple[int, ...] = ()
    weights: tuple[float, ...] | None = None
    compared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises `ValueError` for a landmark that is no build, or weights that are not one for each build."""
        if any(not 0 <= landmark < self.size for landmark in self.landmarks):
            raise ValueError(f"landmarks {self.landmarks} of {self.size} builds")
        if self.weights is not None and len(self.weights) != self.size:
            raise ValueError(f"{len(self.weights)} weights for {self.size} builds")


@dataclass(frozen=True, slots=True)
class Known:
    """`results` by (case, build); `broken`: builds that cannot be installed or proven, with the reason.

    `ready` are the builds whose environment is here already; `prices` says what a probe of each build costs. `hints` say, by
    (case, build), what thin builds showed: they move probes, and no answer rests on them. `waits`: no second look is wanted
    yet, because thin builds are to look first.
    """

    results: Mapping[tuple[str, int], Results] = field(default_factory=dict)
    broken: Mapping[int, str] = field(default_factory=dict)
    ready: frozenset[int] = frozenset()
    prices: Prices = field(default_factory=Prices)
    hints: Mapping[tuple[str, int], Hint] = field(default_factory=dict)
    waits: bool = False


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
    return timelines(question, known, (case,))[case]


def timelines(question: Question, known: Known, cases: Iterable[str]) -> dict[str, dict[int, State]]:
    """The same for several cases at once, which costs less than one after the other."""
    seen = results_by_case(known)
    blocked = blocked_builds(question, known, seen)
    broken: dict[int, State] = {build: Untestable(reason) for build, reason in known.broken.items()}
    made: dict[str, dict[int, State]] = {}
    for case in cases:
        over = broken if case in question.controls else blocked
        own = {build: state_of(results) for build, results in seen.get(case, {}).items() if build not in over}
        states = over | {build: state for build, state in own.items() if state is not None}
        made[case] = {build: states[build] for build in sorted(states)}
    return made


def results_by_case(known: Known) -> dict[str, dict[int, Results]]:
    """The results of each case by build."""
    seen: dict[str, dict[int, Results]] = defaultdict(dict)
    for (case, build), results in known.results.items():
        seen[case][build] = results
    return seen


def blocked_builds(question: Question, known: Known, seen: Mapping[str, Mapping[int, Results]]) -> dict[int, State]:
    """The builds that say nothing about any test, with the reason."""
    touched = {build for control in question.controls for build in seen.get(control, ())} | set(known.broken)
    states = ((build, control_state(question, known, build)) for build in touched)
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

    def within(self, before: int, after: int) -> Gap:
        """The part of the gap between two builds of it."""
        return Gap(before, after, inside(self.untestable, before, after), self.differs)


def inside(builds: tuple[int, ...], before: int, after: int) -> tuple[int, ...]:
    """Those of `builds`, in order, that lie between two builds."""
    return builds[bisect_right(builds, before) : bisect_left(builds, after)] if builds else ()


def judged_of(states: Mapping[int, State]) -> dict[int, Judged]:
    """Only the builds with a verdict."""
    return {build: state for build, state in states.items() if not isinstance(state, Untestable)}


def gaps_of(judged: Mapping[int, Judged], in_vain: tuple[int, ...], *, differing: bool = False) -> list[Gap]:
    """The gaps between neighbouring judged builds, also those of neighbours in the range.

    Both `judged` and `in_vain`, the builds tried without a verdict, must be in the order of the builds. `differing`: only
    the gaps between builds of different states.
    """
    faces = [face(state) for state in judged.values()]
    return [
        Gap(before, after, inside(in_vain, before, after), left != right)
        for (before, after), (left, right) in zip(pairwise(judged), pairwise(faces), strict=True)
        if left != right or not differing
    ]
