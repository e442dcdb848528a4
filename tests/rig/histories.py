"""Random histories for tests of the search: seeded, pure, and with an oracle that answers like a real run.

A state is ``"pass"``, a frozenset of failure ids, ``None`` (untestable) or ``("flaky", failure, rate)``.
"""

from __future__ import annotations

import itertools
import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Steady = Literal["pass"] | frozenset[str]
Flaky = tuple[Literal["flaky"], str, float]
State = Steady | Flaky | None
PASS: Literal["pass"] = "pass"


@dataclass(frozen=True, slots=True)
class History:
    """`states` has one state per build for each case, oldest first; builds in `holes` cannot be installed at all."""

    states: Mapping[str, tuple[State, ...]]
    holes: frozenset[int] = frozenset()

    @property
    def n(self) -> int:
        """The number of builds."""
        return len(next(iter(self.states.values())))

    @property
    def cases(self) -> tuple[str, ...]:
        """The names of the cases."""
        return tuple(self.states)

    def state(self, case: str, build: int) -> State:
        """What is true of a case on a build."""
        return None if build in self.holes else self.states[case][build]

    def testable(self, case: str) -> tuple[int, ...]:
        """The builds on which the case says something."""
        return tuple(build for build in range(self.n) if self.state(case, build) is not None)


@dataclass(frozen=True, slots=True)
class Change:
    """Neighbouring testable builds of different state; those in between are untestable."""

    before: int
    after: int

    @property
    def gap(self) -> tuple[int, ...]:
        """The untestable builds in between."""
        return tuple(range(self.before + 1, self.after))


@dataclass(frozen=True, slots=True)
class TrueEpisode:
    """A stretch of testable builds on which a case shows a failure.

    `appeared` and `fixed` are None where the stretch reaches the end of the range.
    """

    first_with: int
    last_with: int
    appeared: Change | None
    fixed: Change | None


def changes(history: History, case: str) -> tuple[Change, ...]:
    """Every transition of a case, in order."""
    tested = history.testable(case)
    pairs = itertools.pairwise(tested)
    return tuple(Change(a, b) for a, b in pairs if history.state(case, a) != history.state(case, b))


def episodes(history: History, case: str, failure: str) -> tuple[TrueEpisode, ...]:
    """Every stretch of a failure. A build that shows another failure instead counts as being without this one."""
    tested = history.testable(case)
    found: list[TrueEpisode] = []
    start: int | None = None
    for place, build in enumerate(tested):
        if start is None and shows(history.state(case, build), failure):
            start = place
        is_last = place + 1 == len(tested)
        if start is not None and (is_last or not shows(history.state(case, tested[place + 1]), failure)):
            appeared = Change(tested[start - 1], tested[start]) if start else None
            fixed = None if is_last else Change(build, tested[place + 1])
            found.append(TrueEpisode(tested[start], build, appeared, fixed))
            start = None
    return tuple(found)


def shows(state: State, failure: str) -> bool:
    """Whether a state shows a failure at least now and then."""
    if isinstance(state, tuple):
        return state[1] == failure
    return isinstance(state, frozenset) and failure in state


@dataclass(slots=True)
class Oracle:
    """Answers trials and counts what they cost.

    `installs` counts installations, a build again when it had to leave to make room (`room` builds stay, None: all),
    `attempts` counts those that failed. `asked` lists every trial.
    """

    history: History
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    room: int | None = None
    installs: int = 0
    attempts: int = 0
    asked: list[tuple[str, int]] = field(default_factory=list)
    installed: OrderedDict[int, None] = field(default_factory=OrderedDict)

    def trial(self, case: str, build: int) -> Steady | None:
        """What one fresh run shows; None when it cannot be judged."""
        if not self._install(build):
            return None
        self.asked.append((case, build))
        state = self.history.state(case, build)
        if isinstance(state, tuple):
            return frozenset({state[1]}) if self.rng.random() < state[2] else PASS
        return state

    def _install(self, build: int) -> bool:
        if not 0 <= build < self.history.n:
            raise IndexError(f"no build {build}")
        if build in self.history.holes:
            self.attempts += 1
            return False
        if build not in self.installed:
            self.installs += 1
        self.installed[build] = None
        self.installed.move_to_end(build)
        if self.room is not None and len(self.installed) > self.room:
            self.installed.popitem(last=False)
        return True

    @property
    def trials(self) -> int:
        """The number of trials that ran."""
        return len(self.asked)


def steady(n: int, state: State = PASS, case: str = "main") -> History:
    """Nothing ever changes."""
    return History({case: (state,) * n})


def stepwise(steps: Iterable[tuple[int, State]], case: str = "main") -> History:
    """Stretches one after the other: (length, state)."""
    return History({case: tuple(state for length, state in steps for _ in range(length))})


def one_change(rng: random.Random, n: int, failure: str = "A", case: str = "main") -> History:
    """The failure appears once, at a random build after the first, and stays."""
    at = rng.randrange(1, n)
    return stepwise([(at, PASS), (n - at, frozenset({failure}))], case)


def one_fix(rng: random.Random, n: int, failure: str = "A", case: str = "main") -> History:
    """The failure is there at first and fixed once."""
    at = rng.randrange(1, n)
    return stepwise([(at, frozenset({failure})), (n - at, PASS)], case)


def several_changes(rng: random.Random, n: int, count: int, failures: str = "ABC", case: str = "main") -> History:
    """`count` transitions at random places between passing and random failures; needs `count` < `n`."""
    cuts = [0, *sorted(rng.sample(range(1, n), count)), n]
    choices: list[State] = [PASS, *(frozenset({name}) for name in failures)]
    states: list[State] = []
    for _ in range(count + 1):
        states.append(rng.choice([state for state in choices if not states or state != states[-1]]))
    return stepwise(zip((b - a for a, b in itertools.pairwise(cuts)), states, strict=True), case)


def several_failures(rng: random.Random, n: int, count: int, case: str = "main") -> History:
    """`count` failures (F0, F1, ...) of one case, each of which appears at a build of its own and stays."""
    starts = {f"F{number}": at for number, at in enumerate(rng.sample(range(1, n), count))}
    shown = [frozenset(name for name, at in starts.items() if at <= build) for build in range(n)]
    return History({case: tuple(failures or PASS for failures in shown)})


def flaky_change(rng: random.Random, n: int, before: float, after: float, failure: str = "A") -> History:
    """The rate of a failure changes once; a rate of 0 passes and a rate of 1 fails always."""
    at = rng.randrange(1, n)
    return stepwise([(at, _at_rate(failure, before)), (n - at, _at_rate(failure, after))])


def _at_rate(failure: str, rate: float) -> State:
    if rate in {0.0, 1.0}:
        return frozenset({failure}) if rate else PASS
    return ("flaky", failure, rate)


def joined(*histories: History) -> History:
    """Several cases over the same builds; the holes are those of any."""
    states = {case: states for history in histories for case, states in history.states.items()}
    return History(states, frozenset().union(*(history.holes for history in histories)))


def hole_in_the_middle(history: History, width: int) -> History:
    """`width` builds around the middle cannot be installed."""
    start = (history.n - width) // 2
    return replace(history, holes=history.holes | set(range(start, start + width)))


def hole_over_change(rng: random.Random, history: History, width: int, case: str = "main") -> History:
    """`width` builds around a random transition cannot be installed, but never the first or the last build."""
    change = rng.choice(changes(history, case))
    start = change.after - rng.randrange(width + 1)
    covered = range(max(1, start), min(history.n - 1, start + width))
    return replace(history, holes=history.holes | set(covered))


def scattered_holes(rng: random.Random, history: History, share: float) -> History:
    """Each build but the first and the last is missing with the probability `share`."""
    holes = {build for build in range(1, history.n - 1) if rng.random() < share}
    return replace(history, holes=history.holes | holes)


def unjudged(history: History, builds: Iterable[int], case: str = "main") -> History:
    """The builds can be installed, but the case cannot be judged there (a control failed, exit status 125)."""
    return _with_state(history, builds, None, case)


def masked(history: History, start: int, stop: int, failure: str = "mask", case: str = "main") -> History:
    """From `start` up to but without `stop`, the case fails with something else, whatever it would show otherwise."""
    return _with_state(history, range(start, stop), frozenset({failure}), case)


def _with_state(history: History, builds: Iterable[int], state: State, case: str) -> History:
    chosen = set(builds)
    states = tuple(state if build in chosen else old for build, old in enumerate(history.states[case]))
    return replace(history, states={**history.states, case: states})


def any_history(rng: random.Random, n: int) -> History:
    """One of everything above that is not flaky, with holes and a masked stretch now and then."""
    makers: tuple[Callable[[], History], ...] = (
        lambda: steady(n),
        lambda: one_change(rng, n),
        lambda: one_fix(rng, n),
        lambda: several_changes(rng, n, rng.randrange(1, min(n, 5))),
        lambda: several_failures(rng, n, rng.randrange(1, min(n, 4))),
    )
    history = rng.choice(makers)()
    if rng.random() < 0.3:
        start = rng.randrange(n)
        history = masked(history, start, rng.randrange(start, n))
    if rng.random() < 0.5:
        history = scattered_holes(rng, history, rng.choice([0.05, 0.3, 0.8]))
    if changes(history, "main") and rng.random() < 0.3:
        history = hole_over_change(rng, history, rng.randrange(1, n))
    return history
