"""Several questions, one set of environments: which environment is best opened next.

Questions over the same environments are weighed as one; an environment that belongs to several rows of builds counts for
all of them. It is made once, whoever asks for it, and its value is the information for all of them a second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bisect_tool.search.appraisal import Probe, appraise, candidates, grouped, is_shared
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Policy
from bisect_tool.search.prices import LEAST
from bisect_tool.search.prior import prior_of
from bisect_tool.search.wants import Wants, wants_of
from bisect_tool.search.wishes import Split, Wish

_Row = tuple[tuple[str, ...], tuple[float, ...] | None]


@dataclass(frozen=True, slots=True)
class Asking:
    """A question under way. `environments` names the environment of each build; equal names are one environment.

    `wants` may hold what the question wants, as `wants_of` gives it, when that was computed before.
    """

    question: Question
    known: Known
    policy: Policy
    environments: tuple[str, ...]
    wants: Wants | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Open `environment` next: question number `asking` makes `probe` there. `value` is that for all questions, bits a second.

    `others` are the best of the environments that were not chosen, with their values: at most three.
    """

    asking: int
    probe: Probe
    environment: str
    value: float
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """Questions over the same row of environments, made one. Case c of question n is called `n/c`."""

    question: Question
    known: Known
    wants: Wants
    environments: tuple[str, ...]

    def candidates(self) -> set[str]:
        """The environments that are worth a look."""
        groups = grouped(self.wants)
        builds = candidates(self.known, groups, prior_of(self.question), shared=is_shared(groups))
        return {self.environments[build] for build in builds | {wish.build for wish in self.wants.wishes}}

    def appraised(self, offered: set[str]) -> list[tuple[str, Probe]]:
        """The probes in those environments, with their names."""
        builds = [build for build, name in enumerate(self.environments) if name in offered]
        return [
            (self.environments[probe.build], probe) for probe in appraise(self.question, self.known, self.wants, builds)
        ]


def choose(askings: Sequence[Asking]) -> Choice | None:
    """The environment that is worth most to all questions together; None when none of them wants anything more."""
    wants = [wants_in(asking) for asking in askings]
    pools = pools_of(askings, wants)
    offered = {name for pool in pools for name in pool.candidates()}
    found: dict[str, list[tuple[Probe, Pool]]] = defaultdict(list)
    for pool in pools:
        for name, probe in pool.appraised(offered):
            found[name].append((probe, pool))
    ranked = sorted(((value_of(probes), name) for name, probes in found.items()), key=lambda one: -one[0])
    if not ranked:
        return None
    (value, name), others = ranked[0], tuple((name, value) for value, name in ranked[1:4])
    best, _ = found[name][0]
    number = min(int(case.partition("/")[0]) for case in best.cases)
    asking = askings[number]
    probe = appraise(asking.question, asking.known, wants[number], [best.build])[0]
    return Choice(number, probe, name, value, others)


def wants_in(asking: Asking) -> Wants:
    """What the question wants."""
    return wants_of(asking.question, asking.known, asking.policy) if asking.wants is None else asking.wants


def pools_of(askings: Sequence[Asking], wants: Sequence[Wants]) -> list[Pool]:
    """The questions that still want something, pooled where they have the same environments and weights."""
    rows: dict[_Row, list[int]] = defaultdict(list)
    # Rows are long and mostly one object: each object is looked at once.
    known: dict[tuple[int, int], list[int]] = {}
    for number, asking in enumerate(askings):
        if wants[number]:
            row = (asking.environments, asking.question.weights)
            objects = (id(row[0]), id(row[1]))
            if objects not in known:
                known[objects] = rows[row]
            known[objects].append(number)
    return [_pool({number: askings[number] for number in numbers}, wants) for numbers in rows.values()]


def _pool(askings: Mapping[int, Asking], wants: Sequence[Wants]) -> Pool:
    first = next(iter(askings.values()))
    trials = {f"{n}/{case}": seconds for n, one in askings.items() for case, seconds in one.known.prices.trials.items()}
    is_open = any(asking.question.open_start for asking in askings.values())
    ready = frozenset[int]().union(*(one.known.ready for one in askings.values()))
    return Pool(
        question=replace(first.question, tests=tuple(_names(askings)), controls=(), open_start=is_open),
        known=Known(ready=ready, prices=replace(first.known.prices, trials=trials)),
        wants=Wants(
            tuple(_of_question(n, wish) for n in askings for wish in wants[n].wishes),
            tuple(_split_of_question(n, split) for n in askings for split in wants[n].splits),
        ),
        environments=first.environments,
    )


def _of_question(number: int, wish: Wish) -> Wish:
    return Wish(f"{number}/{wish.case}", wish.build, wish.worth, wish.purpose, wish.trials)


def _split_of_question(number: int, split: Split) -> Split:
    return Split(f"{number}/{split.case}", split.gap, split.purpose, split.weight)


def _names(askings: Mapping[int, Asking]) -> Iterable[str]:
    return (f"{number}/{case}" for number, asking in askings.items() for case in asking.question.tests)


def value_of(probes: Sequence[tuple[Probe, Pool]]) -> float:
    """Bits a second of one environment for several rows of builds: it is made once."""
    if len(probes) == 1:
        return probes[0][0].value
    making = [_making(probe, pool) for probe, pool in probes]
    running = sum(probe.price for probe, _ in probes) - sum(making)
    return sum(probe.worth for probe, _ in probes) / max(LEAST, max(making) + running)


def _making(probe: Probe, pool: Pool) -> float:
    return 0.0 if probe.build in pool.known.ready else pool.known.prices.making(probe.build)
