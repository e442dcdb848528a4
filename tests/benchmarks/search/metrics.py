"""``python -m tests.benchmarks.search.metrics``: how often a comparison of numbers is wrong, and what it costs, as tables.

Every machine is simulated (`tests/search/metrics/measuring.py`), every draw is seeded: the same figures each time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from statistics import fmean, median

from bisect_tool.search.metrics.comparison import Magnitude, compare
from bisect_tool.search.metrics.looks import DOUBT, looks, orders
from tests.search.metrics.measuring import Bench, tally

COUNT = 400
ASKED = Magnitude(1.1)
RATIOS = (1.0, 1.03, sqrt(1.1), 1.1, 1.15, 1.3)
MACHINES = {
    "noise 1 %": Bench(0.01),
    "noise 3 %": Bench(0.03),
    "noise 3 %, slower by 22 % over 60 trials": Bench(0.03, drift=0.2),
    "noise 3 %, wandering by 1 % each trial": Bench(0.03, wander=0.01),
    "noise 3 %, 1 of 20 trials an outlier": Bench(0.03, outliers=0.05),
    "noise 8 %": Bench(0.08),
}

Samples = tuple[Sequence[float], Sequence[float]]
Rule = Callable[[Samples], bool]


def words_table() -> None:
    print(f"Asked: 1.1 times or more; {ASKED.least} to {ASKED.most} trials of each build; {COUNT} comparisons a cell:")
    print("same / different / undecided in %, and trials of each build in the mean\n")
    print("| machine | " + " | ".join(f"true ratio {ratio:.3g}" for ratio in RATIOS) + " |")
    print("|---|" + "---|" * len(RATIOS))
    for name, bench in MACHINES.items():
        cells = []
        for ratio in RATIOS:
            found = tally(bench, ratio, ASKED, COUNT)
            shares = (100 * part / COUNT for part in (found.same, found.different, found.undecided))
            cells.append(" / ".join(f"{share:.3g}" for share in shares) + f"; {found.pairs:.1f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def samples(bench: Bench, rng: random.Random, ratio: float) -> Samples:
    """As many samples as a comparison may take at most."""
    return bench.take(rng, ratio, ASKED.most)


def one_of_each(found: Samples) -> bool:
    return found[1][0] / found[0][0] >= ASKED.ratio


def medians_of_six(found: Samples) -> bool:
    return median(found[1][:6]) / median(found[0][:6]) >= ASKED.ratio


def best_of_six(found: Samples) -> bool:
    return min(found[1][:6]) / min(found[0][:6]) >= ASKED.ratio


def significant_at_any_look(found: Samples) -> bool:
    """A test of Mann and Whitney at 1 % after each pair: no share of the doubt, no magnitude."""
    return any(_u(found, size) <= _u_at_one_percent(size) for size in range(ASKED.least, ASKED.most + 1))


def of_this_tool(found: Samples) -> bool:
    return type(compare(*found, ASKED)).__name__ == "Different"


RULES: dict[str, Rule] = {
    "one trial of each build, ratio of the two": one_of_each,
    "six of each, ratio of the medians": medians_of_six,
    "six of each, ratio of the best": best_of_six,
    "Mann-Whitney below 1 % at any of 6 to 30": significant_at_any_look,
    "this tool": of_this_tool,
}


@lru_cache
def _u_at_one_percent(size: int) -> int:
    ways, total = orders(size)
    below = 0
    for statistic, of_this in enumerate(ways):
        below += of_this
        if below / total > 0.01:
            return statistic - 1
    raise AssertionError


def _u(found: Samples, size: int) -> int:
    return sum(after < before for before in found[0][:size] for after in found[1][:size])


def rules_table() -> None:
    print("\nHow often each rule says `different`, in %, with noise of 3 % and 1 of 20 trials an outlier\n")
    ratios = (1.0, 1.03, sqrt(1.1), 1.15, 1.3)
    print("| rule | " + " | ".join(f"true ratio {ratio:.3g}" for ratio in ratios) + " |")
    print("|---|" + "---|" * len(ratios))
    for name, rule in RULES.items():
        cells = []
        for ratio in ratios:
            rng = random.Random(5)
            said = [rule(samples(MACHINES["noise 3 %, 1 of 20 trials an outlier"], rng, ratio)) for _ in range(COUNT)]
            cells.append(f"{100 * fmean(said):.3g}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def order_table() -> None:
    print(
        "\nWhat the order of the trials does on a machine that gets slower by 22 %, noise 3 %, no change: `different` in %\n"
    )
    print("| order | different |")
    print("|---|---|")
    bench = MACHINES["noise 3 %, slower by 22 % over 60 trials"]
    for name, order in (("all of the reference, then all of the build", "blocks"), ("in turn", "turn")):
        rng = random.Random(7)
        said = []
        for _ in range(COUNT):
            reference, build = samples(bench, rng, 1.0)
            if order == "blocks":
                both = [sample for pair in zip(reference, build, strict=True) for sample in pair]
                reference, build = both[: ASKED.most], both[ASKED.most :]
            said.append(of_this_tool((reference, build)))
        print(f"| {name} | {100 * fmean(said):.3g} |", flush=True)


def time_table() -> None:
    print("\n| one decision with so many trials of each build | milliseconds |")
    print("|---|---|")
    rng = random.Random(3)
    for most in (6, 30, 100):
        asked = Magnitude(1.1, most=most)
        looks(asked.least, asked.most)
        reference, build = Bench(0.3).take(rng, 1.05, most)
        times = [time.perf_counter()]
        for _ in range(5):
            compare(reference, build, asked)
            times.append(time.perf_counter())
        print(f"| {most} | {1000 * min(after - before for before, after in pairwise(times)):.1f} |")


def main() -> None:
    print(
        f"promised: each wrong word at most {100 * DOUBT:g} %, below the middle {sqrt(1.1):.3g} and at or above 1.1\n"
    )
    words_table()
    rules_table()
    order_table()
    time_table()


if __name__ == "__main__":
    main()
