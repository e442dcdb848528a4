"""One driver with many specs and slots, simulated with the real planner: every spec has one change somewhere in one range.

As in a run, an environment is open in one slot at a time, and that slot runs there whatever any spec wants of the build.
Calling off what has become useless is left out, so that the trials of many slots are an upper bound.
"""

from __future__ import annotations

import heapq
import random
import time
from dataclasses import dataclass

from bisect_tool.search.planner import Probe, plan
from bisect_tool.search.policy import Policy
from tests.rig.histories import joined, one_change
from tests.search.searching import Search, search

BUILDS = 400


@dataclass(frozen=True, slots=True)
class Farmed:
    """Of a whole batch: seconds until its end, builds installed, environments opened, trials, processor time of planning."""

    seconds: float
    installed: int
    opened: int
    trials: int
    planning: float


def farm(specs: int, slots: int, *, trial: float, install: float, seed: int = 0, builds: int = BUILDS) -> Farmed:
    """Search all specs; a trial takes `trial` seconds, and `install` are those for a build that is not here yet."""
    rng = random.Random(seed)
    changes = (one_change(rng, builds, f"failure {number}", f"spec {number}") for number in range(specs))
    run = search(joined(*changes), policy=Policy(verify=2))
    busy: list[tuple[float, int, Probe]] = []
    now, opened, begun = 0.0, 0, time.process_time()
    while True:
        for probe in _next(run, [one for _, _, one in busy], slots):
            opened += 1
            seconds = len(probe.cases) * trial + (0 if probe.build in run.installed else install)
            heapq.heappush(busy, (now + seconds, opened, probe))
        if not busy:
            return Farmed(now, len(run.installed), opened, len(run.served), time.process_time() - begun)
        now, _, done = heapq.heappop(busy)
        run.serve(done)


def _next(run: Search, running: list[Probe], slots: int) -> list[Probe]:
    """What the free slots begin, each build in one slot at most."""
    if len(running) == slots:
        return []
    planned = plan(run.question, run.known(), run.policy, workers=slots, running=running).probes
    open_ = {probe.build for probe in running}
    chosen: list[Probe] = []
    for probe in planned[:1] if slots == 1 else planned:
        if probe.build not in open_ and len(running) + len(chosen) < slots:
            open_.add(probe.build)
            chosen.append(probe)
    return chosen
