"""Drives a study of a flaky failure against a seeded history, one trial at a time."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from bisect_tool.search.flaky.choice import Work
from bisect_tool.search.flaky.evidence import Evidence
from bisect_tool.search.flaky.study import Study, Terms, examine, study
from bisect_tool.search.flaky.verdict import Verdict

Choose = Callable[[Study], Work]


def first(found: Study) -> Work:
    return found.works[0]


@dataclass(slots=True)
class Outcomes:
    """Whether the failure shows: the nth trial of a build is the same, whoever asks and whenever."""

    rates: tuple[float, ...]
    seed: int
    streams: dict[int, random.Random] = field(default_factory=dict)

    def next(self, build: int) -> bool:
        stream = self.streams.setdefault(build, random.Random(self.seed * 100_003 + build))
        return stream.random() < self.rates[build]


@dataclass(slots=True)
class FlakySearch:
    """A study under way. Builds in `holes` turn out to be untestable when they are asked for."""

    outcomes: Outcomes
    terms: Terms = field(default_factory=Terms)
    holes: frozenset[int] = frozenset()
    choose: Choose = first
    trials: dict[int, tuple[bool, ...]] = field(default_factory=dict)
    untestable: set[int] = field(default_factory=set)
    weights: tuple[float, ...] | None = None

    @property
    def size(self) -> int:
        return len(self.outcomes.rates)

    @property
    def ran(self) -> int:
        return sum(map(len, self.trials.values()))

    @property
    def installs(self) -> int:
        return len(self.trials)

    def evidence(self) -> Evidence:
        return Evidence(self.size, dict(self.trials), frozenset(self.untestable), frozenset(self.trials), self.weights)

    def study(self) -> Study:
        return study(self.evidence(), self.terms, 0, self.size - 1)

    def run(self) -> Verdict:
        while True:
            found = self.study()
            if found.verdict is not None:
                return found.verdict
            self.serve(self.choose(found).build)

    def run_all(self) -> tuple[Study, ...]:
        """Every change, until each part has its verdict."""
        self.serve(0)
        self.serve(self.size - 1)
        while works := [work for one in examine(self.evidence(), self.terms) for work in one.works[:1]]:
            self.serve(works[0].build)
        return examine(self.evidence(), self.terms)

    def serve(self, build: int) -> None:
        if build in self.holes:
            self.untestable.add(build)
        else:
            self.trials[build] = (*self.trials.get(build, ()), self.outcomes.next(build))


def stepped(*stretches: tuple[int, float]) -> tuple[float, ...]:
    """The rate of each build, from stretches of (length, rate)."""
    return tuple(rate for length, rate in stretches for _ in range(length))
