"""Several slots: rounds of probes that start together, and slots that end at different times."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from math import ceil, log
from statistics import fmean

from bisect_tool.search.knowledge import Question
from bisect_tool.search.planner import Probe, Purpose, plan, useless
from tests.rig.histories import History, joined, one_change
from tests.search.searching import UNVERIFIED, Search

SEEDS = range(300)
N = 366


def rounds(history: History, workers: int) -> tuple[int, int]:
    """(all rounds, those after both ends were judged); all probes of a round end before the next one begins."""
    run = Search(history, Question(N, history.cases), UNVERIFIED)
    made = first = 0
    while probes := plan(run.question, run.known(), UNVERIFIED, workers=workers).probes:
        made += 1
        first += any(probe.purpose is Purpose.END for probe in probes)
        for probe in probes[:workers]:
            run.serve(probe)
    return made, made - first


def farm(history: History, workers: int, rng: random.Random) -> tuple[float, int, int]:
    """(time, builds installed, probes cancelled) when a probe takes 1 to 3 units of time and slots never wait."""
    run = Search(history, Question(N, history.cases), UNVERIFIED)
    busy: list[tuple[float, int, Probe]] = []
    now, number, cancelled = 0.0, 0, 0
    while True:
        probes: Sequence[Probe] = [probe for _, _, probe in busy]
        more = plan(run.question, run.known(), UNVERIFIED, workers=workers, running=probes).probes
        for probe in more[: workers - len(busy)]:
            number += 1
            heapq.heappush(busy, (now + rng.uniform(1, 3), number, probe))
        if not busy:
            return now, len(run.installed), cancelled
        now, _, done = heapq.heappop(busy)
        run.serve(done)
        gone = useless(run.question, run.known(), [probe for _, _, probe in busy], UNVERIFIED)
        cancelled += len(gone)
        busy = [one for one in busy if one[2] not in gone]
        heapq.heapify(busy)


def main() -> None:
    """Print the tables."""
    print(f"{N} builds, one change, {len(SEEDS)} histories, without verification: rounds of so many probes\n")
    print("| slots | rounds besides the end checks, mean | most | log(k + 1) of 365, rounded up | all rounds, mean |")
    print("|---|---|---|---|---|")
    for workers in (1, 2, 4, 8):
        found = [rounds(one_change(random.Random(seed), N), workers) for seed in SEEDS]
        after = [besides for _, besides in found]
        least = ceil(round(log(N - 1, workers + 1), 9))
        print(f"| {workers} | {fmean(after):.1f} | {max(after)} | {least} | {fmean(made for made, _ in found):.1f} |")
    print("\nThe same when probes take 1 to 3 units of time each and end in any order; five cases with a change each\n")
    print("| slots | one case: time | builds | cancelled | five cases: time | builds | cancelled |")
    print("|---|---|---|---|---|---|---|")
    for workers in (1, 2, 4, 8):
        told = []
        for count in (1, 5):
            runs = []
            for seed in range(60):
                rng = random.Random(seed)
                history = joined(*(one_change(rng, N, f"F{k}", f"case{k}") for k in range(count)))
                runs.append(farm(history, workers, rng))
            told += [fmean(figures) for figures in zip(*runs, strict=True)]
        print(f"| {workers} | " + " | ".join(f"{figure:.1f}" for figure in told) + " |")
