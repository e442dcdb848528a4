"""The changes that may make a failure show: which there are for a spec on this machine, how likely each is, what it costs.

The chances are presumed, not measured: what a report speaks of comes first, then what bugs of a compiler most often depend on
(dynamic sizes, the dtype), then what they seldom do. They decide about the order alone, never about the answer. Pure.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bisect_tool.runs.trying.mentions import Mentions
from bisect_tool.search.configurations import Change, Configuration

NO_CACHES = {
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
CPU_CAPABILITY = "ATEN_CPU_CAPABILITY"  # of ATen's kernels and of the code that Inductor makes
SPOKEN_OF = 5.0  # times as likely
MOST_LIKELY = 0.9
REPEATS = 4
# axis, value, presumed chance, cost of a look, looks
_OF_TORCH = (
    ("dynamic", "yes", 0.15, 1.2, 1),
    ("dtype", "float64", 0.10, 1.0, 1),
    ("dtype", "bfloat16", 0.06, 1.0, 1),
    ("dtype", "float16", 0.05, 1.0, 1),
    ("dynamic", "no", 0.04, 1.0, 1),
    ("caches", "warm", 0.05, 2.0, 1),
    ("caches", "off", 0.04, 1.0, 1),
    ("threads", "1", 0.03, 1.0, 1),
)
# Without them a CPU takes the widest vectors that it has; on a GPU they change next to nothing.
_OF_CPU = (("cpu", "default", 0.04, 1.0, 1), ("cpu", "avx2", 0.03, 1.0, 1))
_RUN_BY_US = {"dtype", "dynamic"}  # these and warm caches need the runner


@dataclass(frozen=True, slots=True)
class Situation:
    """What there is to change. `has_torch`: the environment has it; `runs_python`: the repro is a script or a module.

    `device` is the one in use, `devices` what the machine has besides it; `builds` are others than the one in use, with the
    seconds that making their environment takes; `variants` likewise. `variables` are those that every trial has already.
    """

    has_torch: bool
    runs_python: bool
    device: str = "cpu"
    mentions: Mentions = field(default_factory=Mentions)
    devices: tuple[str, ...] = ()
    builds: Mapping[str, float] = field(default_factory=dict)
    variants: Mapping[str, float] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a configuration does to a spec: more variables, options of the runner, another device, build, variant.

    `is_repeated`: nothing is changed but that more trials are made, because the failure may come and go.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    runner: tuple[str, ...] = ()
    device: str | None = None
    build: str | None = None
    variant: str | None = None
    is_repeated: bool = False


def changes_for(situation: Situation) -> tuple[Change, ...]:
    """Every change that can be made."""
    return tuple(_changes(situation))


def _changes(situation: Situation) -> Iterator[Change]:
    said = situation.mentions
    named = [f"{name}={value}" for name, value in said.variables if situation.variables.get(name) != value]
    if len(named) > 1:
        yield Change("env", shlex.join(named), 0.6)  # as the report has it
    yield from (Change("env", shlex.join([one]), 0.5) for one in named)
    known = (*_OF_TORCH, *(_OF_CPU if situation.device == "cpu" else ()))
    for axis, value, chance, cost, looks in known if situation.has_torch else ():
        if situation.runs_python or not _needs_runner(axis, value):
            yield Change(axis, value, _chance(chance, said, axis, value), cost=cost, looks=looks)
    repeated = _chance(0.15, said, "repeats", "")
    yield Change("repeats", str(REPEATS), repeated, looks=REPEATS)
    for device in situation.devices:
        yield Change("device", device, _chance(0.3, said, "device", device), price=10.0)
    for build, seconds in situation.builds.items():
        yield Change("build", build, 0.6, price=seconds)
    for variant, seconds in situation.variants.items():
        yield Change("variant", variant, 0.05, price=seconds)


def _needs_runner(axis: str, value: str) -> bool:
    return axis in _RUN_BY_US or (axis, value) == ("caches", "warm")


def _chance(presumed: float, said: Mentions, axis: str, value: str) -> float:
    return min(MOST_LIKELY, presumed * SPOKEN_OF) if said.speaks_of(axis, value) else presumed


def cannot(situation: Situation) -> tuple[str, ...]:
    """What is not tried here, and why."""
    told = []
    if not situation.has_torch:
        told.append("dtype, dynamic shapes, caches, threads and vectors of the CPU: the environment has no torch")
    elif not situation.runs_python:
        told.append("dtype, dynamic shapes and warm caches: the repro is a command that does not begin with `python`")
    if not situation.devices:
        told.append("device: this machine has no other one")
    if not situation.builds:
        told.append("build: no other build is named by `from`, `to` or the report")
    return tuple(told)


def effect_of(configuration: Configuration) -> Effect:
    """What all changes of a configuration do together."""
    values = {change.axis: change.value for change in configuration}
    variables: dict[str, str] = {}
    for word in shlex.split(values.get("env", "")):
        name, _, value = word.partition("=")
        variables[name] = value
    variables |= NO_CACHES if values.get("caches") == "off" else {}
    variables |= ONE_THREAD if "threads" in values else {}
    variables |= {CPU_CAPABILITY: values["cpu"]} if "cpu" in values else {}
    runner = [word for axis in ("dtype", "dynamic") if axis in values for word in (f"--{axis}", values[axis])]
    runner += ["--warm"] if values.get("caches") == "warm" else []
    return Effect(
        variables,
        tuple(runner),
        values.get("device"),
        values.get("build"),
        values.get("variant"),
        is_repeated="repeats" in values,
    )
