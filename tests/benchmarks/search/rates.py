"""Failures that show now and then, without a model of their rates."""

from __future__ import annotations

import random
from statistics import fmean

from bisect_tool.search.states import Fail, Pass
from tests.benchmarks.search.situations import SEEDS
from tests.rig.histories import changes, flaky_change
from tests.search.searching import all_ends, search


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
    """Print the table."""
    print(f"60 builds, {len(SEEDS)} histories each, with two trials more on each side of a change\n")
    print(
        "| rate before → after | exact and right | exact and wrong | wrong although flakiness showed | trials | builds |"
    )
    print("|---|---|---|---|---|---|")
    for rate in (1.0, 0.9, 0.7, 0.5, 0.3):
        right, wrong, noticed, trials, installs = flaky_row(rate)
        print(f"| 0 → {rate:g} | {right} | {wrong} | {noticed} | {trials:.0f} | {installs:.1f} |")
