"""Seconds instead of steps: what prices save where some builds are here, some are downloaded and the rest must be fetched.

A build of 800 MB comes with 20 MB/s and takes 15 s to unpack, so that it costs 55 s, 15 s when it is downloaded and nothing
when it is installed. Which builds are here is random.
"""

from __future__ import annotations

import random
from statistics import fmean

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import plan
from bisect_tool.search.prices import Prices
from tests.rig.histories import History, one_change, stepwise
from tests.search.searching import UNVERIFIED, Search

N = 366
SEEDS = range(150)
SIZES = (800_000_000,) * N


def spent(history: History, prices: Prices, ready: frozenset[int], *, used: bool, open_start: bool) -> float:
    """Seconds of a whole search; with `used` false the planner sees no prices and not what is here."""
    run = Search(history, Question(N, history.cases, open_start=open_start), UNVERIFIED)
    seconds = 0.0
    while True:
        here = frozenset(ready | run.installed)
        known = Known(dict(run.results), {}, here, prices) if used else Known(dict(run.results))
        probes = plan(run.question, known, UNVERIFIED).probes
        if not probes:
            return seconds
        probe = probes[0]
        seconds += (0.0 if probe.build in here else prices.making(probe.build)) + prices.trials["main"]
        run.serve(probe)


def old(rng: random.Random) -> History:
    age = rng.randint(30, 364)
    return stepwise([(N - 1 - age, "pass"), (age + 1, frozenset({"A"}))])


def main() -> None:
    """Print the table."""
    print(f"{N} builds, one change, {len(SEEDS)} histories, seconds of the whole search\n")
    print("| installed | downloaded | a trial | start | without prices | with | share |")
    print("|---|---|---|---|---|---|---|")
    for here, fetched, trial, open_start in (
        (0, 0, 20.0, False),
        (20, 0, 5.0, False),
        (20, 0, 60.0, False),
        (0, 40, 5.0, False),
        (10, 60, 20.0, False),
        (10, 60, 20.0, True),
    ):
        figures = []
        for seed in SEEDS:
            rng = random.Random(seed)
            history = old(rng) if open_start else one_change(rng, N)
            builds = rng.sample(range(N), here + fetched)
            prices = Prices(15.0, 20e6, SIZES, frozenset(builds[here:]), {"main": trial})
            ready = frozenset(builds[:here])
            figures.append([spent(history, prices, ready, used=used, open_start=open_start) for used in (False, True)])
        without, with_ = (fmean(column) for column in zip(*figures, strict=True))
        start = "unknown" if open_start else "known"
        print(
            f"| {here} | {fetched} | {trial:.0f} s | {start} | {without:.0f} s | {with_:.0f} s | {with_ / without:.2f} |"
        )
