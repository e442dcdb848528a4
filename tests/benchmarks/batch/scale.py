"""A plan on paper: 10,000 specs, 400 nightlies, 64 GPUs. `python -m tests.benchmarks.batch.scale [--simulate]`

Every figure that goes in stands in `Inputs`, with where it comes from; `docs/scale.md` explains what comes out. `--simulate`
makes those again that a simulation gives (two minutes).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import log

from tests.benchmarks.batch.farming import farm

MB, GB, TB, HOUR = 1e6, 1e9, 1e12, 3600.0


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the plan is for, and what was measured. Seconds and bytes; `of` a spec, a trial, a build, or a host."""

    # The task.
    specs: int = 10_000
    builds: int = 400
    hosts: int = 8
    gpus_of_host: int = 8

    # The search: `--simulate`, for specs with one change each in one range, both sides run again twice.
    installed: Mapping[int, int] = field(default_factory=lambda: {1: 12, 10: 57, 100: 231, 1000: 397})  # by specs
    trials_of_spec: float = 16.7
    builds_of_spec: float = 12.7
    openings: Mapping[int, int] = field(default_factory=lambda: {1: 16, 10: 99, 100: 541, 1000: 1189})  # by specs
    speed_up: Mapping[int, float] = field(
        default_factory=lambda: {1: 1.0, 4: 3.6, 8: 6.3, 16: 7.8, 64: 8.4}
    )  # by slots
    decision_of_spec: float = 0.000_084  # docs/scale.md: 84 ms with 1,000 specs

    # Trials on an H200: docs/gpu.md and docs/benchmarks.md. One control a spec, run first on every build.
    trial: float = 25.0
    control: float = 6.0
    own_of_trial: float = 0.08  # docs/speed.md, `tests.benchmarks.speed.overhead`

    # Builds: torch 2.14.1 (docs/speed.md, shared facts on nightlies); what all need is fetched once for each cache.
    wheel: float = 555 * MB
    shared: float = 2.44 * GB
    unpacked: float = 1.14 * GB
    making: float = 10.0  # unpacked and proven: docs/benchmarks.md
    link_of_host: float = 100 * MB  # a second; an assumption

    # What stays: measured with a run of 103 trials and 8 cases (docs/scale.md).
    row_of_trial: float = 4300.0
    folder_of_trial: float = 24_600.0
    files_of_trial: float = 4.0
    reports_of_spec: float = 270_000.0

    @property
    def gpus(self) -> int:
        return self.hosts * self.gpus_of_host

    @property
    def seconds_of_spec(self) -> float:
        """Of a GPU: trials of the test case, and a control on each build."""
        return self.trials_of_spec * self.trial + self.builds_of_spec * self.control

    @property
    def all_trials(self) -> float:
        return self.specs * (self.trials_of_spec + self.builds_of_spec)


@dataclass(frozen=True, slots=True)
class Layout:
    """How the batch is shared out: `drivers` of `slots` each, and `caches` in which builds are installed."""

    name: str
    drivers: int
    slots: int
    caches: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Of a layout: hours until its end; installs and bytes in all; the wire and the disk of a host; the core of a driver."""

    hours: float
    installs: float
    fetched: float
    wire_hours: float
    disk: float
    driver_hours: float
    planning_hours: float


def layouts(inputs: Inputs) -> tuple[Layout, ...]:
    """Those that `deploy/` can make."""
    return (
        Layout("one driver, Ray on all hosts", 1, inputs.gpus, inputs.hosts),
        Layout("one driver a host (`--shard i/8`, 8 slots)", inputs.hosts, inputs.gpus_of_host, inputs.hosts),
        Layout("one driver a GPU (`--shard i/64`)", inputs.gpus, 1, inputs.gpus),
    )


def figures(inputs: Inputs, layout: Layout) -> Figures:
    """What a layout costs. A driver that installs on several hosts opens each build on one of them at a time."""
    specs = inputs.specs / layout.drivers
    own = between(inputs.installed, specs)
    caches_of_driver = layout.caches / layout.drivers
    installs = layout.drivers * min(own * caches_of_driver, between(inputs.openings, specs))
    fetched = installs * inputs.wheel + layout.caches * inputs.shared
    speed = between(inputs.speed_up, layout.slots)
    planning = between(inputs.openings, specs) * specs * inputs.decision_of_spec
    own_time = specs * (inputs.trials_of_spec + inputs.builds_of_spec) * inputs.own_of_trial
    return Figures(
        hours=specs * inputs.seconds_of_spec / speed / HOUR,
        installs=installs,
        fetched=fetched,
        wire_hours=fetched / inputs.hosts / inputs.link_of_host / HOUR,
        disk=installs / inputs.hosts * inputs.unpacked + layout.caches / inputs.hosts * inputs.shared,
        driver_hours=(own_time + planning) / HOUR,
        planning_hours=planning / HOUR,
    )


def between(points: Mapping[int, float], at: float) -> float:
    """Between measured points, straight over the logarithm; beyond the last one as at the last one."""
    xs = sorted(points)
    if at >= xs[-1]:
        return points[xs[-1]]
    if at <= xs[0]:
        return points[xs[0]]
    low, high = next((a, b) for a, b in pairwise(xs) if a <= at < b)
    share = log(at / low) / log(high / low)
    return points[low] + share * (points[high] - points[low])


def print_plan(inputs: Inputs) -> None:
    """The table of layouts, and what is the same in all of them."""
    print(f"{inputs.specs:,} specs, {inputs.builds} builds, {inputs.gpus} GPUs on {inputs.hosts} hosts\n")
    print("| layout | hours | installs | fetched | a host's wire busy | a host's disk | a driver's core busy |")
    print("|---|---|---|---|---|---|---|")
    for layout in layouts(inputs):
        found = figures(inputs, layout)
        print(
            f"| {layout.name} | {found.hours:.0f} | {found.installs:,.0f} | {found.fetched / TB:.1f} TB | "
            f"{found.wire_hours:.1f} h | {found.disk / GB:,.0f} GB | {found.driver_hours:.1f} h |"
        )
    trials, ideal = inputs.all_trials, inputs.specs * inputs.seconds_of_spec / inputs.gpus
    folders, files = trials * inputs.folder_of_trial, trials * inputs.files_of_trial
    print(f"\ntrials             {trials:,.0f}, {trials / ideal:.1f} a second if all GPUs are busy")
    print(f"GPU time           {ideal * inputs.gpus / HOUR:,.0f} hours, {ideal / HOUR:.1f} hours on {inputs.gpus}")
    print(f"store              {trials * inputs.row_of_trial / GB:.1f} GB")
    print(f"folders of trials  {folders / GB:.1f} GB, {files:,.0f} files")
    print(f"reports            {inputs.specs * inputs.reports_of_spec / GB:.1f} GB")


def simulate() -> None:
    """What the search alone says: builds that are installed, and how many slots one driver can use."""
    inputs = Inputs()
    print("| specs | slots | installs | openings | trials a spec | speed-up | one decision |")
    print("|---|---|---|---|---|---|---|")
    alone: dict[int, float] = {}
    for specs, slots in ((1, 1), (10, 1), (100, 1), (100, 4), (100, 8), (100, 16), (100, 64), (1000, 1)):
        found = farm(specs, slots, trial=inputs.trial, install=inputs.making)
        first = alone.setdefault(specs, found.seconds)
        print(
            f"| {specs} | {slots} | {found.installed} | {found.opened} | {found.trials / specs:.1f} | "
            f"{first / found.seconds:.1f} | {1000 * found.planning / found.opened:.1f} ms |",
            flush=True,
        )


if __name__ == "__main__":
    simulate() if "--simulate" in sys.argv[1:] else print_plan(Inputs())
