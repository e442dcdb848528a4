"""Slots of a Ray cluster: how much faster more of them are, and what Ray costs for each trial. CPU, tiny builds.

    python -m tests.benchmarks.batch.ray_slots [--trials 32] [--seconds 2] [--out FILE]

A cluster of two nodes is started on this machine. The trials do nothing but sleep, so that a few cores can stand for many: the
figures are those of bisect and Ray, not of any computation. `docs/ray.md` has a run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median

from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.environment import Environment, Environments
from bisect_tool.environments.uv import find_uv
from bisect_tool.runs.device import Device
from bisect_tool.runs.executors import Ended, Executor, Opened, RanTrial
from bisect_tool.runs.executors.cluster.nodes import Cluster
from bisect_tool.runs.executors.local import LocalExecutor, Slot
from bisect_tool.runs.executors.ray import RayExecutor
from bisect_tool.runs.nvml import open_nvml
from tests.benchmarks.printed import Printed
from tests.rig.executor_bench import Bench
from tests.rig.index import Index, serve
from tests.rig.ray_cluster import ray_cluster
from tests.rig.toy import ToyBuild, day, toy_package

SLOTS = (1, 2, 4, 8)
SLEEP = b"import sys, time; time.sleep(float(open(sys.argv[1]).read()))\n"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=2.0, help="that each trial sleeps")
    parser.add_argument("--out", type=Path, help="a file for the same as JSON")
    given = parser.parse_args()
    printed = Printed("batch.ray_slots", given.out)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        (folder / "wheels").mkdir()
        toy_package(folder / "wheels", "toy", [ToyBuild("1.0", uploaded=day(1))])
        index = stack.enter_context(serve(folder / "wheels"))
        nodes = stack.enter_context(ray_cluster(folder, cpus=4))
        nodes.add(cpus=4)
        cluster = stack.enter_context(closing(Cluster(nodes.address, folder, open_nvml)))
        cluster.open()
        load = os.getloadavg()[0]
        printed.say(
            f"{given.trials} trials that sleep {given.seconds:g} s; {os.cpu_count()} cores, load {load:.1f} before\n"
        )
        compare_slots(printed, folder, index, cluster, given.trials, given.seconds)
        compare_costs(printed, folder, index, cluster, given.trials)


def compare_slots(printed: Printed, folder: Path, index: Index, cluster: Cluster, trials: int, seconds: float) -> None:
    """The same trials with more and more slots."""
    printed.say("| slots | local: seconds | speed-up | Ray, two nodes: seconds | speed-up |\n|---|---|---|---|---|")
    first: list[float] = []
    for count in SLOTS:
        walls = []
        for opened in (local, lambda *words: far(cluster, *words)):
            with opened(folder, count) as executor:
                walls.append(run_all(Bench(executor, folder, index), count, trials, seconds)[0])
        first = first or walls
        own, other = walls
        printed.say(f"| {count} | {own:.1f} | {first[0] / own:.2f} | {other:.1f} | {first[1] / other:.2f} |")


def compare_costs(printed: Printed, folder: Path, index: Index, cluster: Cluster, trials: int) -> None:
    """Trials that do nothing, one after the other: what is left is the cost."""
    costs = []
    for opened in (local, lambda *words: far(cluster, *words)):
        with opened(folder, 1) as executor:
            costs.append(median(run_all(Bench(executor, folder, index), 1, trials, 0.0)[1]))
    own, other = (1000 * one for one in costs)
    printed.say(
        f"\none trial that does nothing (median of {trials}): local {own:.0f} ms, Ray {other:.0f} ms, {other - own:.0f} ms more"
    )


@contextmanager
def local(folder: Path, count: int) -> Iterator[Executor]:
    """Slots of this machine."""
    cache, environ = open_cache(folder / "cache"), dict(os.environ)
    slots = [Slot(str(number)) for number in range(count)]
    with closing(LocalExecutor(slots, Environments(cache, find_uv(cache.uv, environ), environ), environ)) as executor:
        yield executor


@contextmanager
def far(cluster: Cluster, _folder: Path, count: int) -> Iterator[Executor]:
    """Slots of the cluster."""
    with closing(RayExecutor(cluster, Device("cpu", "cpu"), count)) as executor:
        yield executor


def run_all(bench: Bench, slots: int, trials: int, seconds: float) -> tuple[float, list[float]]:
    """Open the environment in every slot, then run all trials: seconds of wall time, and those of each trial.

    One trial in each slot comes first and is not counted: processes are started then that later trials find.
    """
    environments, leases = open_everywhere(bench, slots)
    run = _Round(bench, environments, seconds)
    run.go(slots)
    started, taken = time.monotonic(), run.go(trials)
    wall = time.monotonic() - started
    for close in leases:
        close()
    return wall, taken


def open_everywhere(bench: Bench, slots: int) -> tuple[list[Environment], list[Callable[[], None]]]:
    """The environment in each slot, and what lets go of it."""
    for slot in range(slots):
        bench.executor.start(slot, bench.opening("1.0"))
    found: dict[int, Opened] = {}
    while len(found) < slots:
        for one in bench.executor.arrivals(timeout=300):
            if isinstance(one, Ended):
                assert isinstance(one.result, Opened), one.result
                found[one.slot] = one.result
    ordered = [found[slot] for slot in range(slots)]
    return [one.environment for one in ordered], [one.lease.close for one in ordered]


class _Round:
    """Trials, each begun in the slot that is free next."""

    def __init__(self, bench: Bench, environments: list[Environment], seconds: float) -> None:
        self._bench = bench
        self._environments = environments
        self._seconds = seconds
        self._number = 0

    def go(self, trials: int) -> list[float]:
        """The seconds that each took, from its start to its end as the loop sees them."""
        began: dict[int, float] = {}
        left, taken = trials, []
        for slot in range(len(self._environments)):
            if left:
                left -= 1
                began[slot] = self._start(slot)
        while began:
            for one in self._bench.executor.arrivals(timeout=300):
                if isinstance(one, Ended):
                    assert isinstance(one.result, RanTrial), one.result
                    taken.append(time.monotonic() - began.pop(one.slot))
                    if left:
                        left -= 1
                        began[one.slot] = self._start(one.slot)
        return taken

    def _start(self, slot: int) -> float:
        self._number += 1
        name = f"20260101-{self._number}-{time.monotonic_ns()}"
        job = self._bench.trial(self._environments[slot], SLEEP, name, content=str(self._seconds).encode())
        self._bench.executor.start(slot, job)
        return time.monotonic()


if __name__ == "__main__":
    main()
