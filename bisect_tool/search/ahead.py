"""Which builds come next, before it is known how the probes under way end: what to make ahead of need.

For each way in which a probe may end, the planner is asked what it would choose then; the choices that are common to most ways
come first. A guess costs at most some work in vain: it is no decision, and takes no part in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bisect_tool.search.abreast import Under, decide
from bisect_tool.search.appraisal import Probe, appraise
from bisect_tool.search.knowledge import Results
from bisect_tool.search.slots import with_speculations
from bisect_tool.search.states import Fail, Judged, Pass, Passing, Result, face
from bisect_tool.search.together import Asking, choose, wants_in
from bisect_tool.search.wishes import View, views_of

LOOKS = 3  # how often the planner is asked for each build that is to be made ahead
SURELY = 0.9  # chance that a build behaves as both of its neighbours do
UNKNOWN = Fail(frozenset({"?"}))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A build that may be next: question number `asking` would open `environment` for it, with this `chance`."""

    asking: int
    build: int
    environment: str
    chance: float


@dataclass(frozen=True, slots=True)
class _Future:
    """What may be known, and what is under way then, with its chance."""

    askings: Sequence[Asking]
    under: tuple[Under, ...]
    chance: float


def likely_next(askings: Sequence[Asking], under: Sequence[Under], most: int) -> list[Candidate]:
    """At most `most` environments that are likely to be opened next, the likeliest first; not those that are open or ready.

    With more than one probe under way, any may end first. The planner is asked at most `LOOKS` times for each.
    """
    found: dict[str, Candidate] = {}
    futures = [_Future(askings, tuple(under), 1.0)]
    looks, is_alone = LOOKS * most, len(under) == 1
    open_now = {one.environment for one in under}
    while futures and looks > 0 and (len(found) < most or futures[0].chance > _least(found, most)):
        future = futures.pop(0)
        for next_one in _after(future):
            looks -= 1
            chosen = _chosen(next_one, is_alone=is_alone)
            if chosen is None:
                continue
            _count(found, askings, chosen, next_one.chance, open_now)
            futures.append(replace(next_one, under=(*next_one.under, chosen)))
        futures.sort(key=lambda one: -one.chance)
    return sorted(found.values(), key=lambda one: -one.chance)[:most]


def _least(found: dict[str, Candidate], most: int) -> float:
    return sorted((one.chance for one in found.values()), reverse=True)[most - 1]


def _count(
    found: dict[str, Candidate], askings: Sequence[Asking], chosen: Under, chance: float, open_now: set[str]
) -> None:
    number, probe = chosen.probes[0]
    name = chosen.environment
    if name in open_now or probe.build in askings[number].known.ready:
        return
    before = found[name].chance if name in found else 0.0
    found[name] = Candidate(number, probe.build, name, min(1.0, before + chance))


def _chosen(future: _Future, *, is_alone: bool) -> Under | None:
    """What the planner would begin with; None when nothing is left for this slot."""
    if not is_alone:
        starts = decide(future.askings, future.under, 1).starts
        return starts[0].under if starts else None
    choice = choose(future.askings)
    return None if choice is None else Under(choice.environment, ((choice.asking, choice.probe),))


def _after(future: _Future) -> Iterator[_Future]:
    """The ways in which one of the probes under way may end first."""
    for place, one in enumerate(future.under):
        left = (*future.under[:place], *future.under[place + 1 :])
        for chance, known in _ends(future.askings, one):
            yield _Future(known, left, future.chance * chance / len(future.under))


def _ends(askings: Sequence[Asking], under: Under) -> list[tuple[float, Sequence[Asking]]]:
    """Both ways: everything behaves as the builds before, or as those after; with their chances."""
    ways: list[tuple[float, Sequence[Asking]]] = []
    for side in (0, 1):
        told = list(askings)
        chances: list[float] = []
        for number, probe in under.probes:
            told[number], chance = _ended(askings[number], probe, side)
            chances.append(chance)
        ways.append((min(chances), told))
    return [way for way in ways if way[0] > 0]


def _ended(asking: Asking, probe: Probe, side: int) -> tuple[Asking, float]:
    results: dict[tuple[str, int], Results] = dict(asking.known.results)
    views = {view.case: view for view in views_of(asking.question, asking.known)}
    chance = 0.5
    for place, case in enumerate(probe.cases):
        told: Result = Pass()
        if case in views:
            told, chance = _guess(views[case], probe.build, side)
        count = max(1, probe.trials[place] if probe.trials else 1)
        results[case, probe.build] = (*results.get((case, probe.build), ()), *[told] * count)
    known = replace(asking.known, results=results, ready=asking.known.ready | {probe.build})
    return replace(asking, known=known, wants=None), chance


def _guess(view: View, build: int, side: int) -> tuple[Result, float]:
    """A result as it may be, and its chance."""
    if build in view.judged:  # run again
        return _as(view.judged[build]), float(side == 0)
    before = [state for number, state in view.judged.items() if number < build][-1:]
    after = [state for number, state in view.judged.items() if number > build][:1]
    if before and after and face(before[0]) != face(after[0]):
        return _as((before, after)[side][0]), 0.5
    if before or after:
        known = _as((before or after)[0])
        other: Result = UNKNOWN if known == Pass() else Pass()
        both = SURELY if before and after else 0.5
        return (known, both) if side == 0 else (other, 1 - both)
    return (Pass(), UNKNOWN)[side], 0.5


def _as(state: Judged) -> Result:
    return Pass() if isinstance(state, Passing) else Fail(state.failures)


def is_wanted(askings: Sequence[Asking], environment: str) -> bool:
    """Whether any question can learn something in that environment, as things stand."""
    for asking in askings:
        builds = [build for build, name in enumerate(asking.environments) if name == environment]
        if builds and appraise(
            asking.question, asking.known, with_speculations(asking.question, asking.known, wants_in(asking)), builds
        ):
            return True
    return False
