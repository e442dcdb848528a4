"""Flaky failures over seeded histories: ``python -m tests.benchmarks.search.flaky [HISTORIES] [ours|told|peer] [--out FILE]``.

Next to our own search: searches that are told the rates (`told.py`), and git-bayesect on the same outcomes, when it is
installed (dependency group `peers`).
"""

from __future__ import annotations

import argparse
import os
import random
import timeit
from collections.abc import Callable, Iterator
from multiprocessing import Pool
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bisect_tool.search.flaky.evidence import Evidence
from bisect_tool.search.flaky.study import Terms, study
from bisect_tool.search.flaky.verdict import Found, NoReliableChange
from bisect_tool.search.policy import Flakiness, Policy
from bisect_tool.search.prices import Prices
from tests.benchmarks.printed import Printed
from tests.benchmarks.search import peer
from tests.benchmarks.search.outcomes import BUILDS, CHANGES, NO_CHANGES, Run, history
from tests.benchmarks.search.told import SEVEN, told
from tests.rig.histories import History, one_change, steady
from tests.search.flaky.searching import FlakySearch, Outcomes, stepped
from tests.search.searching import search

PROCESSES = len(os.sched_getaffinity(0))
Search = Callable[[float, float, int], tuple[Run, ...]]


class Kind(NamedTuple):
    """A search to measure: `name` in the table, empty for our own; `number` of its runs for one history."""

    group: str
    name: str
    search: Search
    number: int = 0


def ours(before: float, after: float, seed: int) -> tuple[Run, ...]:
    true, outcomes = history(before, after, seed)
    search = FlakySearch(outcomes)
    verdict = search.run()
    named = verdict.after if isinstance(verdict, Found) else None
    chance = verdict.confidence if isinstance(verdict, Found) else 0.0
    return (Run(true, named, search.ran, search.installs, chance, isinstance(verdict, NoReliableChange)),)


def told_both(before: float, after: float, seed: int) -> tuple[Run, ...]:
    return (told([(before, after)], before, after, seed),)


def told_seven(before: float, after: float, seed: int) -> tuple[Run, ...]:
    return (told(SEVEN, before, after, seed),)


def changed_row(name: str, runs: list[Run]) -> str:
    right = fmean(run.named == run.true for run in runs)
    wrong = fmean(run.named not in {run.true, None} for run in runs)
    trials, installs = fmean(run.trials for run in runs), fmean(run.installs for run in runs)
    most = max(run.trials for run in runs)
    return f"| {name} | {right:.1%} | {wrong:.1%} | {trials:.1f} | {most} | {installs:.2f} |"


def unchanged_row(name: str, runs: list[Run]) -> str:
    said = fmean(run.said_no_change and run.installs == 2 for run in runs)
    wrong = fmean(run.named is not None for run in runs)
    trials, installs = fmean(run.trials for run in runs), fmean(run.installs for run in runs)
    return f"| {name} | {said:.1%} | {wrong:.1%} | {trials:.1f} | {max(run.trials for run in runs)} | {installs:.2f} |"


def calibration(runs: list[Run]) -> str:
    named = [run for run in runs if run.named is not None]
    true = fmean(run.named == run.true for run in named)
    return (
        f"{len(named)} builds named: {true:.2%} true; mean of the chances given: {fmean(r.chance for r in named):.2%}"
    )


def searches(kind: Search, rates: tuple[float, float], count: int) -> list[tuple[Run, ...]]:
    """The searches of one kind over `count` histories, in order."""
    with Pool(PROCESSES) as pool:
        return pool.starmap(kind, ((*rates, seed) for seed in range(count)), chunksize=5)


def kinds(wanted: str) -> Iterator[Kind]:
    """Our own search, and those to compare with; of the group `wanted`, or of all for an empty one."""
    every = [
        Kind("ours", "", ours),
        Kind("told", "told both rates", told_both),
        Kind("told", "told seven pairs", told_seven),
    ]
    if peer.is_here():
        every += [
            Kind("peer", f"git-bayesect, {confidence:.0%}", peer.bayesect, number)
            for number, confidence in enumerate(peer.CONFIDENCES)
        ]
    return (kind for kind in every if wanted in {kind.group, ""})


def of_kinds(rates: tuple[float, float], count: int, wanted: str) -> Iterator[tuple[Kind, list[Run]]]:
    """The runs of each kind. A search that is told the rates knows that they differ."""
    made: dict[Search, list[tuple[Run, ...]]] = {}
    for kind in kinds(wanted):
        if rates[0] != rates[1] or kind.group != "told":
            if kind.search not in made:
                made[kind.search] = searches(kind.search, rates, count)
            yield kind, [runs[kind.number] for runs in made[kind.search]]


def table(count: int, wanted: str) -> Iterator[str]:
    everything: list[Run] = []
    yield "| rates | right | wrong name | trials, mean | most | builds installed |"
    yield "|---|---|---|---|---|---|"
    for rates in CHANGES:
        for kind, runs in of_kinds(rates, count, wanted):
            yield changed_row(kind.name or f"{rates[0]:g} → {rates[1]:g}", runs)
            everything += [] if kind.name else runs
    yield ""
    yield "| no change | said so, with 2 installs | named a build | trials, mean | most | builds installed |"
    yield "|---|---|---|---|---|---|"
    for rate in NO_CHANGES:
        for kind, runs in of_kinds((rate, rate), count, wanted):
            yield unchanged_row(kind.name or f"{rate:g}", runs)
            everything += [] if kind.name else runs
    if everything:
        yield ""
        yield f"Calibration at 0.99, all rows: {calibration(everything)}"


def noticed(history: History, mode: Flakiness, *, trust: bool = False) -> tuple[int, int]:
    """Trials and installs of a whole search by the planner."""
    policy, prices = Policy(flaky=mode, trust=trust), Prices(unpack=60.0, trials={"main": 12.0})
    run = search(history, policy=policy, prices=prices)
    run.run(3000)
    return sum(map(len, run.results.values())), len(run.installed)


def price_of_noticing(count: int) -> Iterator[str]:
    """What a deterministic repro pays for `flaky: auto`, next to `no`."""
    makers: dict[str, Callable[[random.Random, int], History]] = {
        "one change": one_change,
        "never fails": lambda _rng, size: steady(size),
    }
    yield "| deterministic repro | trials more, mean and most | installs more, most | trials more with trust |"
    yield "|---|---|---|---|"
    for name, make in makers.items():
        histories = [make(random.Random(seed), BUILDS) for seed in range(count)]
        plain = [noticed(one, Flakiness.NO) for one in histories]
        auto = [noticed(one, Flakiness.AUTO) for one in histories]
        trusting = [noticed(one, Flakiness.AUTO, trust=True) for one in histories]
        trials = [more[0] - less[0] for more, less in zip(auto, plain, strict=True)]
        installs = max(more[1] - less[1] for more, less in zip(auto, plain, strict=True))
        saved = max(more[0] - less[0] for more, less in zip(trusting, plain, strict=True))
        yield f"| {name} | {fmean(trials):.1f}, {max(trials)} | {installs} | {saved} |"


def time_of_decision(size: int) -> float:
    """Seconds of one decision in the middle of a search over `size` builds, the best of five."""
    search = FlakySearch(Outcomes(stepped((size // 3, 0.1), (size - size // 3, 0.5)), 1))
    while search.installs < 12:
        search.serve(search.study().works[0].build)
    ready = frozenset(range(0, size, 10))
    seen = Evidence(size, search.trials, frozenset(range(size // 2, size // 2 + 50)), ready, tuple([1.0] * size))
    return min(timeit.repeat(lambda: study(seen, Terms(), 0, size - 1), number=1, repeat=5))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Flaky failures over seeded histories.")
    parser.add_argument("histories", nargs="?", type=int, default=300)
    parser.add_argument("wanted", nargs="?", choices=["ours", "told", "peer", ""], default="")
    parser.add_argument("--out", type=Path, help="a file for the same as JSON")
    given = parser.parse_args()
    count, wanted, printed = given.histories, given.wanted, Printed("search.flaky", given.out)
    printed.say(f"{BUILDS} builds, {count} histories a row\n")
    for line in table(count, wanted):
        printed.say(line)
    if wanted in {"", "peer"} and not peer.is_here():
        printed.say("\ngit-bayesect is not installed: uv pip install --group peers")
    if wanted in {"", "ours"}:
        printed.say()
        for line in price_of_noticing(min(count, 60)):
            printed.say(line)
        printed.say(f"\nOne decision with 10,000 builds: {1000 * time_of_decision(10_000):.1f} ms")


if __name__ == "__main__":
    main()
