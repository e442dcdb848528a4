"""From the studies of one failure to its episodes: stretches of builds where it shows more often than beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from bisect_tool.search.episodes import End, Episode, Hole, Kind
from bisect_tool.search.flaky.study import Study
from bisect_tool.search.flaky.verdict import Found, NoReliableChange, NotConverged
from bisect_tool.search.knowledge import judged_of
from bisect_tool.search.states import Failing, State, Untestable, face


def episodes_of(states: Mapping[int, State], failure: str, studies: Sequence[Study]) -> tuple[Episode, ...]:
    """The episodes of `failure`, oldest first. An end is where its rate changes, so that the rate beside it need not be 0.

    A change from one rate to a higher one that is not 0 ends an episode and begins the next. A failure without any
    change that can be relied on makes one episode that is open at both ends.
    """
    showing = [build for build, state in judged_of(states).items() if failure in face(state)]
    if not showing:
        return ()
    changes = [change for one in studies if (change := _change(states, failure, one)) is not None]
    episodes: list[Episode] = []
    begun: End | None = None if changes and changes[0][1] else _open(None, showing[0])
    for end, rises in changes:
        if begun is not None and (not rises or begun.before is not None):
            episodes.append(Episode(begun, end))
        begun = end if rises else None
    if begun is not None:
        episodes.append(Episode(begun, _open(showing[-1], None)))
    return tuple(episodes)


def _open(before: int | None, after: int | None) -> End:
    return End(Kind.OPEN, before, after)


def _change(states: Mapping[int, State], failure: str, one: Study) -> tuple[End, bool] | None:
    """The end that a study names, and whether the failure shows more often after it."""
    match one.verdict:
        case Found(before, after, _, older, newer, _):
            kind, verified = (Kind.NARROWED if after - before > 1 else Kind.EXACT), True
        case NotConverged(before, after, _, older, newer, True):
            kind, verified = Kind.NARROWED, False
        case None if one.belief is not None:
            (before, after), kind, verified = one.belief.range_with(0.99), Kind.NARROWED, False
            rises = one.belief.best.after > one.belief.best.before
            return _end(states, failure, kind, (before, after), verified=verified, rises=rises), rises
        case None | NoReliableChange() | NotConverged():
            return None
        case _:
            assert_never(one.verdict)
    rises = (newer.seen or 0.0) > (older.seen or 0.0)
    return _end(states, failure, kind, (before, after), verified=verified, rises=rises), rises


def _end(
    states: Mapping[int, State], failure: str, kind: Kind, builds: tuple[int, int], *, verified: bool, rises: bool
) -> End:
    before, after = builds
    without = states.get(before if rises else after)
    other = frozenset[str]() if without is None or isinstance(without, Untestable) else face(without) - {failure}
    return End(kind, before, after, tuple(_holes(states, failure, range(before + 1, after))), other, verified)


def _holes(states: Mapping[int, State], failure: str, builds: range) -> Iterator[Hole]:
    """The builds that say nothing about the failure, with the reason: untestable, not tried, or another failure hides it."""
    for build in builds:
        match states.get(build):
            case None:
                yield Hole(build, None)
            case Untestable(reason):
                yield Hole(build, reason)
            case Failing(others) if failure not in others:
                yield Hole(build, f"fails with {', '.join(sorted(others))}, which may hide it")
            case _:
                yield Hole(build, "nearly all of its trials say nothing about this failure")
