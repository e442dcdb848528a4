"""The changes of a session that can be diagnosed: a build with a failure and its neighbour without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bisect_tool.runs.session import Session
from bisect_tool.search import answer as found
from bisect_tool.search.states import Failing, Passing, State
from bisect_tool.trials.failure import SignatureKind


@dataclass(frozen=True, slots=True)
class Change:
    """`failure` (its identity) of `case` shows on the build `with_`, and not on its neighbour `without`."""

    failure: str
    case: str
    with_: int
    without: int


def changes_of(session: Session) -> tuple[Change, ...]:
    """The changes of failures that come each time, the last testable neighbours of each, every one once."""
    return tuple(dict.fromkeys(_changes(session)))


def _changes(session: Session) -> Iterator[Change]:
    for failure in session.answer().failures:
        if session.failures[failure.failure].signature.kind is SignatureKind.METRIC:
            continue
        for episode in failure.episodes:
            pairs = (
                (episode.appeared.after, episode.appeared.before),
                (episode.fixed.before, episode.fixed.after),
            )
            yield from (
                Change(failure.failure, failure.case, with_, without)
                for with_, without in pairs
                if with_ is not None and without is not None and _is_steady(session, failure, with_, without)
            )


def _is_steady(session: Session, failure: found.FailureAnswer, with_: int, without: int) -> bool:
    states = [session.state(failure.case, number) for number in (with_, without)]
    return (
        _has(states[0], failure.failure)
        and isinstance(states[1], Passing | Failing)
        and not _has(states[1], failure.failure)
    )


def _has(state: State | None, failure: str) -> bool:
    return isinstance(state, Failing) and failure in state.failures
