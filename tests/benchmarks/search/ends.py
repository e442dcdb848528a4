"""The test of the ends, exactly: all outcomes of up to 150 pairs of trials, each of which is looked at.

``python -m tests.benchmarks.search.ends`` prints for each pair of rates how often a third build is installed and how many
trials that takes, and for several doubts the largest chance of it over all rates that both ends may share.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product

from bisect_tool.search.flaky.difference import Finding, finding_of
from tests.benchmarks.search.outcomes import CHANGES, NO_CHANGES

SHARED = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
DOUBTS = (0.05, 0.01, 0.001)
UNLIKELY = 1e-8  # outcomes with less chance are left out


def goes_on(older: float, newer: float, doubt: float) -> tuple[float, float]:
    """(the chance that the ends are told apart, mean trials of both together)."""
    now: dict[tuple[int, int], float] = {(0, 0): 1.0}
    apart = trials = 0.0
    pairs = 0
    while now:
        pairs += 1
        trials += 2 * sum(now.values())
        then: dict[tuple[int, int], float] = defaultdict(float)
        for ((left, right), chance), one, other in product(now.items(), (0, 1), (0, 1)):
            likely = chance * (older if one else 1 - older) * (newer if other else 1 - newer)
            if likely > UNLIKELY:
                then[left + one, right + other] += likely
        now = {}
        for (left, right), chance in then.items():
            match finding_of(left, right, pairs, doubt)[0]:
                case Finding.DIFFERENT:
                    apart += chance
                case Finding.OPEN:
                    now[left, right] = chance
                case Finding.ALIKE:
                    pass
    return apart, trials


def main() -> None:
    """Print the tables."""
    print("| rates of the ends | a third build is installed | trials of the ends |\n|---|---|---|")
    for rates in (*CHANGES, *((rate, rate) for rate in NO_CHANGES)):
        apart, trials = goes_on(*rates, 0.01)
        print(f"| {rates[0]:g}, {rates[1]:g} | {apart:.2%} | {trials:.1f} |", flush=True)
    print("\n| doubt | a third build is installed when the rates are the same, at most |\n|---|---|")
    for doubt in DOUBTS:
        print(f"| {doubt:g} | {max(goes_on(rate, rate, doubt)[0] for rate in SHARED):.3%} |", flush=True)


if __name__ == "__main__":
    main()
