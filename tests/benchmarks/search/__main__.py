"""``python -m tests.benchmarks.search``: how many builds the search probes, over 300 seeded histories each, as a table."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from statistics import fmean

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import plan
from bisect_tool.search.states import Fail, Pass
from tests.rig.histories import (
    History,
    hole_in_the_middle,
    hole_over_change,
    joined,
    one_change,
    scattered_holes,
    stepwise,
)
from tests.search.searching import FAILURE_FREE, search

SEEDS = range(300)
N = 366
Make = Callable[[random.Random], History]


def change(rng: random.Random) -> History:
    return one_change(rng, N)


def old(low: int, high: int) -> Make:
    def make(rng: random.Random) -> History:
        age = rng.randint(low, high)
        return stepwise([(N - 1 - age, "pass"), (age + 1, frozenset({"A"}))])

    return make


def several(count: int) -> Make:
    return lambda rng: joined(*(one_change(rng, N, f"F{k}", f"case{k}") for k in range(count)))


ROWS: tuple[tuple[str, Make, bool], ...] = (
    ("one change, no hole", change, False),
    ("20 untestable at the middle", lambda rng: hole_in_the_middle(change(rng), 20), False),
    ("60 untestable at the middle", lambda rng: hole_in_the_middle(change(rng), 60), False),
    ("20 untestable over the change", lambda rng: hole_over_change(rng, change(rng), 20), False),
    ("60 untestable over the change", lambda rng: hole_over_change(rng, change(rng), 60), False),
    ("10 % untestable, scattered", lambda rng: scattered_holes(rng, change(rng), 0.1), False),
    ("start unknown, 180 to 364 days old", old(180, 364), True),
    ("start unknown, 0 to 6 days old", old(0, 6), True),
    ("5 failures", several(5), False),
    ("10 failures", several(10), False),
    ("20 failures", several(20), False),
)


def measure(make: Make, *, open_start: bool) -> list[int]:
    """Builds installed in each history."""
    counts = []
    for seed in SEEDS:
        run = search(make(random.Random(seed)), policy=FAILURE_FREE, open_start=open_start)
        run.run()
        counts.append(len(run.installed))
    return counts


def time_of_plan(size: int, cases: int) -> float:
    """Seconds of one decision with `cases` open questions."""
    known = {
        (f"c{k}", build): (Pass() if build == 0 else Fail(frozenset({"A"})),)
        for k in range(cases)
        for build in (0, size - 1)
    }
    question = Question(size, tuple(f"c{k}" for k in range(cases)))
    started = time.perf_counter()
    plan(question, Known(known))
    return time.perf_counter() - started


def main() -> None:
    print(f"{N} builds, 300 histories each, without verification; both end checks are counted\n")
    print("| situation | builds, mean | largest | besides the ends |")
    print("|---|---|---|---|")
    for name, make, open_start in ROWS:
        counts = measure(make, open_start=open_start)
        ends = 1 if open_start else 2
        print(f"| {name} | {fmean(counts):.1f} | {max(counts)} | {fmean(counts) - ends:.1f} |")
    print("\n| one decision | milliseconds |")
    print("|---|---|")
    for size, cases in ((366, 5), (10_000, 5)):
        print(f"| {size} builds, {cases} cases | {1000 * time_of_plan(size, cases):.0f} |")


if __name__ == "__main__":
    main()
