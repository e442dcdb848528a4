"""How many builds the search installs, over 300 seeded histories each."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import fmean

from tests.benchmarks.search.bound import bits, fewest
from tests.rig.histories import (
    History,
    changes,
    hole_in_the_middle,
    hole_over_change,
    joined,
    one_change,
    scattered_holes,
    stepwise,
)
from tests.search.searching import UNVERIFIED, search

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


def anywhere(rng: random.Random, width: int) -> History:
    history = change(rng)
    start = rng.randrange(1, N - width)
    return replace(history, holes=frozenset(range(start, start + width)))


def several(count: int) -> Make:
    return lambda rng: joined(*(one_change(rng, N, f"F{k}", f"case{k}") for k in range(count)))


ROWS: tuple[tuple[str, Make, bool], ...] = (
    ("one change, no hole", change, False),
    ("20 untestable at the middle", lambda rng: hole_in_the_middle(change(rng), 20), False),
    ("60 untestable at the middle", lambda rng: hole_in_the_middle(change(rng), 60), False),
    ("20 untestable anywhere", lambda rng: anywhere(rng, 20), False),
    ("60 untestable anywhere", lambda rng: anywhere(rng, 60), False),
    ("20 untestable over the change", lambda rng: hole_over_change(rng, change(rng), 20), False),
    ("60 untestable over the change", lambda rng: hole_over_change(rng, change(rng), 60), False),
    ("10 % untestable, scattered", lambda rng: scattered_holes(rng, change(rng), 0.1), False),
    ("30 % untestable, scattered", lambda rng: scattered_holes(rng, change(rng), 0.3), False),
    ("start unknown, 180 to 364 days old", old(180, 364), True),
    ("start unknown, 0 to 6 days old", old(0, 6), True),
    ("start unknown, 7 to 179 days old", old(7, 179), True),
    ("5 failures", several(5), False),
    ("10 failures", several(10), False),
    ("20 failures", several(20), False),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """Builds installed in each history, and the share of answers that name the true neighbours of every change."""

    installed: tuple[int, ...]
    complete: float


def measure(make: Make, *, open_start: bool) -> Figures:
    """Search every history without verification."""
    installed, complete = [], []
    for seed in SEEDS:
        history = make(random.Random(seed))
        run = search(history, policy=UNVERIFIED, open_start=open_start)
        named = set(run.run().boundaries())
        installed.append(len(run.installed))
        true = {(one.before, one.after) for case in history.cases for one in changes(history, case)}
        complete.append(named == true)
    return Figures(tuple(installed), fmean(complete))


def main() -> None:
    """Print the table, and how near several failures come to the least that is possible."""
    print(f"{N} builds, {len(SEEDS)} histories each, without verification\n")
    print("| situation | builds, mean | largest | besides the end checks | true neighbours named |")
    print("|---|---|---|---|---|")
    besides: dict[str, float] = {}
    for name, make, open_start in ROWS:
        found = measure(make, open_start=open_start)
        mean = fmean(found.installed)
        besides[name] = mean - (1 if open_start else 2)
        print(f"| {name} | {mean:.1f} | {max(found.installed)} | {besides[name]:.1f} | {found.complete:.0%} |")
    print("\n| failures | installs besides the ends | the fewest of any planner | bits to learn | separate searches |")
    print("|---|---|---|---|---|")
    least = fewest(N - 1, 20)
    for count, row in ((1, "one change, no hole"), (5, "5 failures"), (10, "10 failures"), (20, "20 failures")):
        print(
            f"| {count} | {besides[row]:.1f} | {least[count][N - 1]:.2f} | {bits(N - 1, count):.0f} | "
            f"{count * least[1][N - 1]:.0f} |"
        )
