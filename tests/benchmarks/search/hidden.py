"""A second failure, unrelated to the one that is searched, shows instead of everything else on 30 % of the builds."""

from __future__ import annotations

import random
from statistics import fmean

from bisect_tool.search.answer import Kind
from bisect_tool.search.policy import Policy
from tests.rig.histories import History, changes, masked, one_change
from tests.search.searching import search

SEEDS = range(200)
N = 366
STRETCH = 110  # 30 % of the builds
POLICIES = (
    ("as usual", Policy()),
    ("without looking aside", Policy(aside=None)),
    ("`--scan 3`", Policy(scan=3)),
)


def planted(rng: random.Random) -> History:
    """The failure A appears and stays; B hides whatever there is on a stretch anywhere inside the range."""
    history = one_change(rng, N)
    start = rng.randrange(1, N - 1 - STRETCH)
    return masked(history, start, start + STRETCH, "B")


def main() -> None:
    """Print the table."""
    print(f"{N} builds, one change, and an unrelated failure instead on {STRETCH} of them; {len(SEEDS)} histories\n")
    print("| policy | wrong names | both failures reported | every change found | builds, mean |")
    print("|---|---|---|---|---|")
    for name, policy in POLICIES:
        wrong = both = every = 0
        installed = []
        for seed in SEEDS:
            history = planted(random.Random(seed))
            run = search(history, policy=policy)
            found = run.run()
            true = {(change.before, change.after) for change in changes(history, "main")}
            ends = [end for one in found.failures for ep in one.episodes for end in (ep.appeared, ep.fixed)]
            exact = {(end.before, end.after) for end in ends if end.kind is Kind.EXACT}
            wrong += bool(exact - true)
            visible = {failure for state in history.states["main"] if isinstance(state, frozenset) for failure in state}
            both += {one.failure for one in found.failures} == visible
            every += exact == true
            installed.append(len(run.installed))
        print(f"| {name} | {wrong} | {both} of {len(SEEDS)} | {every} of {len(SEEDS)} | {fmean(installed):.1f} |")
