"""``python -m tests.benchmarks.search``: how many builds the search probes, over 300 seeded histories each, as a table."""

from __future__ import annotations

import random
import timeit
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import fmean

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import plan
from bisect_tool.search.states import Fail, NoVerdict, Pass, Result
from tests.rig.histories import (
    History,
    changes,
    flaky_change,
    hole_in_the_middle,
    hole_over_change,
    joined,
    one_change,
    scattered_holes,
    stepwise,
)
from tests.search.searching import UNVERIFIED, all_ends, search

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


def known_of(size: int, cases: int) -> Known:
    """A search under way, with a wide hole in the open gap of each case, and a thousand builds that are here."""
    results: dict[tuple[str, int], tuple[Result, ...]] = {}
    for number in range(cases):
        case = f"c{number}"
        results |= {(case, build): (NoVerdict("125"),) for build in range(size // 2, size // 2 + size // 20, 7)}
        results |= {(case, 0): (Pass(),), (case, size - 1 - number): (Fail(frozenset({"A"})),)}
    return Known(results, ready=frozenset(range(0, size, max(1, size // 1000))))


def time_of_plan(size: int, cases: int) -> float:
    """Seconds of one decision with `cases` open questions, the best of five."""
    known, question = known_of(size, cases), Question(size, tuple(f"c{number}" for number in range(cases)))
    return min(timeit.repeat(lambda: plan(question, known), number=1, repeat=5))


def flaky_row(rate: float) -> tuple[int, int, int, float, float]:
    """Of 300 histories of 60 builds: right, wrong, wrong although flakiness was seen; mean trials and installs."""
    right = wrong = noticed = 0
    trials, installs = [], []
    for seed in SEEDS:
        rng = random.Random(seed)
        history = flaky_change(rng, 60, 0.0, rate)
        true = changes(history, "main")[0]
        run = search(history, rng=rng)
        exact = {(before, after) for kind, before, after in all_ends(run.run(4000)) if kind == "exact"}
        is_wrong = bool(exact - {(true.before, true.after)})
        right += exact == {(true.before, true.after)}
        wrong += is_wrong
        noticed += is_wrong and any({type(one) for one in seen} == {Pass, Fail} for seen in run.results.values())
        trials.append(sum(map(len, run.results.values())))
        installs.append(len(run.installed))
    return right, wrong, noticed, fmean(trials), fmean(installs)


def main() -> None:
    print(f"{N} builds, {len(SEEDS)} histories each, without verification\n")
    print("| situation | builds, mean | largest | besides the end checks | true neighbours named |")
    print("|---|---|---|---|---|")
    for name, make, open_start in ROWS:
        found = measure(make, open_start=open_start)
        mean = fmean(found.installed)
        besides = mean - (1 if open_start else 2)
        print(f"| {name} | {mean:.1f} | {max(found.installed)} | {besides:.1f} | {found.complete:.0%} |")
    print(f"\n60 builds, {len(SEEDS)} histories each, with two trials more on each side of a change\n")
    print(
        "| rate before → after | exact and right | exact and wrong | wrong although flakiness showed | trials | builds |"
    )
    print("|---|---|---|---|---|---|")
    for rate in (1.0, 0.9, 0.7, 0.5, 0.3):
        right, wrong, noticed, trials, installs = flaky_row(rate)
        print(f"| 0 → {rate:g} | {right} | {wrong} | {noticed} | {trials:.0f} | {installs:.1f} |")
    print("\n| one decision | milliseconds |")
    print("|---|---|")
    for size, cases in ((366, 5), (10_000, 5), (10_000, 100)):
        print(f"| {size} builds, {cases} cases | {1000 * time_of_plan(size, cases):.1f} |")


if __name__ == "__main__":
    main()
