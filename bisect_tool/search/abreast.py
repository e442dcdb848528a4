"""Several slots: what to start next to what is under way, and what of that has become useless, for all questions together.

One environment is open in one slot at a time, and everything that is wanted of it runs there, one after the other: so a trial
is never made twice at once, and controls come before tests. Pure, as all of the search: the record makes the same decisions
again from what was known and what was under way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bisect_tool.search import slots
from bisect_tool.search.appraisal import Probe, appraise
from bisect_tool.search.together import Asking, Choice, Pool, choose, pools_of, value_of, wants_in
from bisect_tool.search.wants import Wants
from bisect_tool.search.wishes import Purpose


@dataclass(frozen=True, slots=True)
class Under:
    """What one slot is at: an open `environment`, and what of it is for which question, by (number of the asking, probe)."""

    environment: str
    probes: tuple[tuple[int, Probe], ...]


@dataclass(frozen=True, slots=True)
class Start:
    """A choice for a free slot. `probes` are those of all questions that want something there, the chosen one first."""

    choice: Choice
    probes: tuple[tuple[int, Probe], ...]

    @property
    def under(self) -> Under:
        """What the slot is at once it has begun."""
        return Under(self.choice.environment, self.probes)


@dataclass(frozen=True, slots=True)
class Decision:
    """`useless` are the places, in the list of what is under way, of what is called off; `starts` fill the free slots."""

    useless: tuple[int, ...]
    starts: tuple[Start, ...]


def decide(askings: Sequence[Asking], under: Sequence[Under], free: int) -> Decision:
    """What `free` slots begin with next to what is `under` way, and what of that is called off first.

    Neither starts nor anything under way that is not useless: the search is over.
    """
    useless = tuple(place for place, one in enumerate(under) if is_useless(askings, one))
    going = [one for place, one in enumerate(under) if place not in useless]
    return Decision(useless, tuple(_starts(askings, going, free)))


def is_useless(askings: Sequence[Asking], under: Under) -> bool:
    """Whether no question can gain from it any more."""
    return all(
        slots.useless(askings[number].question, askings[number].known, [probe], askings[number].policy)
        for number, probe in under.probes
    )


def _starts(askings: Sequence[Asking], going: Sequence[Under], free: int) -> list[Start]:
    if free <= 0:
        return []
    wants = [slots.with_speculations(asking.question, asking.known, wants_in(asking)) for asking in askings]
    busy = {one.environment for one in going}
    found: dict[str, list[tuple[Probe, Pool]]] = defaultdict(list)
    for pool in pools_of(askings, wants):
        running = [Probe(build, pool.question.tests, Purpose.SPLIT, 0.0) for build in _builds_of(pool, busy)]
        for probe in slots.fill_with(pool.question, pool.known, pool.wants, free, running):
            found[pool.environments[probe.build]].append((probe, pool))
    ranked = sorted(
        ((value_of(probes), name) for name, probes in found.items() if name not in busy), key=lambda one: -one[0]
    )
    if not ranked and not going and (only := choose(askings)) is not None:
        ranked = [(only.value, only.environment)]
    return [_start(askings, wants, name, value, found[name]) for value, name in ranked[:free]]


def _builds_of(pool: Pool, environments: set[str]) -> list[int]:
    return [build for build, name in enumerate(pool.environments) if name in environments]


def _start(
    askings: Sequence[Asking],
    wants: Sequence[Wants],
    environment: str,
    value: float,
    pooled: Sequence[tuple[Probe, Pool]],
) -> Start:
    """Everything that is wanted of one environment, at least what it was chosen for."""
    probes: list[tuple[int, Probe]] = []
    for number, asking in enumerate(askings):
        builds = [build for build, name in enumerate(asking.environments) if name == environment]
        probes += [(number, probe) for probe in appraise(asking.question, asking.known, wants[number], builds)[:1]]
    # In a part of a gap, between probes under way, a build may be worth a probe that is not in the whole gap.
    probes = probes or [one for probe, _ in pooled for one in _apart(askings, probe)]
    number, probe = probes[0]
    return Start(Choice(number, probe, environment, value), tuple(probes))


def _apart(askings: Sequence[Asking], pooled: Probe) -> list[tuple[int, Probe]]:
    """The probe of a pool as probes of its questions, with the controls that are still to be run."""
    cases: dict[int, list[str]] = defaultdict(list)
    for name in pooled.cases:
        place, _, case = name.partition("/")
        cases[int(place)].append(case)
    found = []
    for number, own in sorted(cases.items()):
        asking = askings[number]
        first = [name for name in asking.question.controls if not asking.known.results.get((name, pooled.build))]
        found.append((number, replace(pooled, cases=(*first, *own), trials=())))
    return found
