"""Drives the planner against the rig's oracle, as a run does, but without processes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bisect_tool.search.answer import Answer, answer
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import Plan, Policy, Probe, plan
from bisect_tool.search.prices import Prices
from bisect_tool.search.states import Fail, NoVerdict, Pass, Passing, Result, state_of
from tests.rig.histories import History, Oracle

Choose = Callable[[Plan], Probe]
UNVERIFIED = Policy(verify=0)


def first(found: Plan) -> Probe:
    return found.probes[0]


def last(found: Plan) -> Probe:
    return found.probes[-1]


@dataclass(slots=True)
class Search:
    """A search under way. `served` lists the (build, case) pairs in the order in which they were run."""

    history: History
    question: Question
    policy: Policy = field(default_factory=Policy)
    choose: Choose = first
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    results: dict[tuple[str, int], tuple[Result, ...]] = field(default_factory=dict)
    broken: dict[int, str] = field(default_factory=dict)
    installed: set[int] = field(default_factory=set)
    served: list[tuple[int, str, str]] = field(default_factory=list)
    prices: Prices = field(default_factory=Prices)

    def known(self) -> Known:
        return Known(dict(self.results), dict(self.broken), frozenset(self.installed), self.prices)

    def plan(self) -> Plan:
        return plan(self.question, self.known(), self.policy)

    def answer(self) -> Answer:
        return answer(self.question, self.known(), self.policy)

    def step(self) -> bool:
        """Serve one probe; False when the search is over."""
        found = self.plan()
        if not found.probes:
            return False
        self.serve(self.choose(found))
        return True

    def serve(self, probe: Probe) -> None:
        self.installed.add(probe.build)
        if probe.build in self.history.holes:
            self.broken[probe.build] = "cannot be installed"
            return
        oracle = Oracle(self.history, self.rng)
        for case in probe.cases:
            true = oracle.trial(case, probe.build)
            result: Result = NoVerdict("125") if true is None else Pass() if true == "pass" else Fail(frozenset(true))
            self.results[case, probe.build] = (*self.results.get((case, probe.build), ()), result)
            self.served.append((probe.build, case, probe.purpose.value))
            if case in self.question.controls and not isinstance(state_of(self.results[case, probe.build]), Passing):
                return

    def run(self, most: int = 2000) -> Answer:
        for _ in range(most):
            if not self.step():
                return self.answer()
        raise AssertionError("the search does not end")


def search(history: History, *, controls: tuple[str, ...] = (), open_start: bool = False, **more: Any) -> Search:
    """A search over `history`; `more` are fields of the search."""
    tests = tuple(case for case in history.cases if case not in controls)
    return Search(history, Question(history.n, tests, controls, open_start=open_start), **more)


def ends(found: Answer, number: int = 0) -> list[tuple[str, int | None, int | None]]:
    """(kind, before, after) of both ends of each episode of one failure, flat."""
    return [
        (end.kind.value, end.before, end.after)
        for episode in found.failures[number].episodes
        for end in (episode.appeared, episode.fixed)
    ]


def all_ends(found: Answer) -> list[tuple[str, int | None, int | None]]:
    """The same for all failures."""
    return [end for number in range(len(found.failures)) for end in ends(found, number)]
