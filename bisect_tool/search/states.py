"""What one trial said, and what all trials of one case on one build say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Pass:
    """A trial that passed."""


@dataclass(frozen=True, slots=True)
class Fail:
    """A trial that failed, with the ids of everything it showed."""

    failures: frozenset[str]


@dataclass(frozen=True, slots=True)
class NoVerdict:
    """A trial that said nothing about the build."""

    reason: str


Result = Pass | Fail | NoVerdict


@dataclass(frozen=True, slots=True)
class Passing:
    """Every judged trial passed."""

    trials: int


@dataclass(frozen=True, slots=True)
class Failing:
    """Every judged trial failed in the same way."""

    failures: frozenset[str]
    trials: int


@dataclass(frozen=True, slots=True)
class Flaky:
    """The trials disagree: `failed` of `trials` failed, together with all of `failures`.

    `shown` has each failure, sorted, with the number of trials that showed it.
    """

    failures: frozenset[str]
    failed: int
    trials: int
    shown: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Untestable:
    """The build says nothing about the case, because of `reason`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Hint:
    """What a thin build showed: the Python files of a build on the binaries of build `base`. Never evidence (see `hints`)."""

    failures: frozenset[str]
    base: int


Judged = Passing | Failing | Flaky
State = Judged | Untestable
PASSED_ONCE = Passing(1)


def state_of(results: Sequence[Result]) -> State | None:
    """The state that `results` (in any order) amount to; None when there are none.

    A trial without a verdict counts only when no other trial has one.
    """
    if len(results) == 1:
        return _state_of_one(results[0])
    if not results:
        return None
    fails = [result for result in results if isinstance(result, Fail)]
    passes = sum(isinstance(result, Pass) for result in results)
    judged = len(fails) + passes
    if judged == 0:
        return Untestable(next(result.reason for result in results if isinstance(result, NoVerdict)))
    if not fails:
        return Passing(judged)
    if passes == 0 and len({fail.failures for fail in fails}) == 1:
        return Failing(fails[0].failures, judged)
    shown = Counter(failure for fail in fails for failure in fail.failures)
    return Flaky(frozenset(shown), len(fails), judged, tuple(sorted(shown.items())))


def _state_of_one(result: Result) -> State:
    """The state after a single trial, which most builds have: in a hurry, because every decision asks for all of them."""
    if isinstance(result, Pass):
        return PASSED_ONCE
    return _failed_once(result.failures) if isinstance(result, Fail) else Untestable(result.reason)


@lru_cache(maxsize=1024)
def _failed_once(failures: frozenset[str]) -> Failing:
    return Failing(failures, 1)


def face(state: Judged) -> frozenset[str]:
    """The failures that a state shows: what two neighbours must differ in to make a transition."""
    return frozenset() if isinstance(state, Passing) else state.failures


def trials_of(state: State) -> int:
    """How many trials with a verdict stand behind the state."""
    return 0 if isinstance(state, Untestable) else state.trials


def trials_showing(state: Judged, failure: str) -> int:
    """How many trials of the state showed `failure`."""
    if isinstance(state, Flaky):
        return dict(state.shown).get(failure, 0)
    return state.trials if failure in face(state) else 0
