"""``python -m tests.benchmarks.search.flaky [HISTORIES]``: flaky failures over seeded histories, next to git-bayesect.

git-bayesect is measured on the same outcomes through its own class, when it is installed (dependency group `peers`).
"""

from __future__ import annotations

import random
import sys
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean

from bisect_tool.search.flaky.evidence import Evidence
from bisect_tool.search.flaky.study import Terms, study
from bisect_tool.search.flaky.verdict import Found, NoReliableChange
from bisect_tool.search.policy import Flakiness, Policy
from bisect_tool.search.prices import Prices
from tests.rig.histories import History, one_change, steady
from tests.search.flaky.searching import FlakySearch, Outcomes, stepped
from tests.search.searching import search

BUILDS = 60
CHANGES = ((0.0, 1.0), (0.0, 0.5), (0.0, 0.2), (0.05, 1.0), (0.1, 0.9), (0.1, 0.5), (0.2, 0.8))
NO_CHANGES = (0.05, 0.2, 0.5)
CONFIDENCES = (0.95, 0.99)  # of git-bayesect; the first is what it stops at by itself
MOST_BY_BAYESECT = 300  # it has no way to say that nothing changed


@dataclass(frozen=True, slots=True)
class Run:
    """How one search ended. `named` is the first build after the change, None when none was named."""

    true: int | None
    named: int | None
    trials: int
    installs: int
    chance: float = 0.0
    said_no_change: bool = False


def history(before: float, after: float, seed: int) -> tuple[int | None, Outcomes]:
    """The first build with the rate `after` (None when the rates are the same), and what its trials show."""
    at = random.Random(seed).randrange(1, BUILDS)
    rates = stepped((at, before), (BUILDS - at, after))
    return (None if before == after else at), Outcomes(rates, seed)


def ours(before: float, after: float, seed: int) -> Run:
    true, outcomes = history(before, after, seed)
    search = FlakySearch(outcomes)
    verdict = search.run()
    named = verdict.after if isinstance(verdict, Found) else None
    chance = verdict.confidence if isinstance(verdict, Found) else 0.0
    return Run(true, named, search.ran, search.installs, chance, isinstance(verdict, NoReliableChange))


def bayesect(before: float, after: float, seed: int) -> tuple[Run, ...]:
    """Its own loop: the build that it selects, until one place has the confidence. Its index 0 is the newest build.

    One run for each of `CONFIDENCES`, the smallest first: what it selects does not depend on them.
    """
    from git_bayesect import Bisector

    true, outcomes = history(before, after, seed)
    bisector, installed, found = Bisector([1.0] * BUILDS), set[int](), list[Run]()
    most = MOST_BY_BAYESECT if true is None else 20 * MOST_BY_BAYESECT
    for trials in range(1, most + 1):
        index = bisector.select()
        installed.add(index)
        bisector.record(index, outcomes.next(BUILDS - 1 - index))
        chance = float(bisector.distribution.max())
        while len(found) < len(CONFIDENCES) and chance >= CONFIDENCES[len(found)]:
            named = BUILDS - 1 - int(bisector.distribution.argmax())
            found.append(Run(true, named, trials, len(installed), chance))
        if len(found) == len(CONFIDENCES):
            return tuple(found)
    unnamed = Run(true, None, most, len(installed))
    return (*found, *[unnamed] * (len(CONFIDENCES) - len(found)))


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


def has_bayesect() -> bool:
    try:
        import git_bayesect  # noqa: F401
    except ImportError:
        return False
    return True


def peer_rows(before: float, after: float, count: int) -> Iterator[tuple[str, list[Run]]]:
    if has_bayesect():
        runs = [bayesect(before, after, seed) for seed in range(count)]
        for number, confidence in enumerate(CONFIDENCES):
            yield f"git-bayesect, {confidence:.0%}", [one[number] for one in runs]


def table(count: int) -> Iterator[str]:
    everything: list[Run] = []
    yield "| rates | right | wrong name | trials, mean | most | builds installed |"
    yield "|---|---|---|---|---|---|"
    for before, after in CHANGES:
        runs = [ours(before, after, seed) for seed in range(count)]
        everything += runs
        yield changed_row(f"{before:g} → {after:g}", runs)
        yield from (changed_row(name, peer) for name, peer in peer_rows(before, after, count))
    yield ""
    yield "| no change | said so, with 2 installs | named a build | trials, mean | most | builds installed |"
    yield "|---|---|---|---|---|---|"
    for rate in NO_CHANGES:
        runs = [ours(rate, rate, seed) for seed in range(count)]
        everything += runs
        yield unchanged_row(f"{rate:g}", runs)
        yield from (unchanged_row(name, peer) for name, peer in peer_rows(rate, rate, count))
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
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print(f"{BUILDS} builds, {count} histories a row\n")
    for line in table(count):
        print(line, flush=True)
    print(flush=True)
    for line in price_of_noticing(count):
        print(line, flush=True)
    if not has_bayesect():
        print("\ngit-bayesect is not installed: uv pip install --group peers")
    print(f"\nOne decision with 10,000 builds: {1000 * time_of_decision(10_000):.1f} ms")


if __name__ == "__main__":
    main()
