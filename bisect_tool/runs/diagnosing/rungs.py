"""The rungs of the ladder: ways to run a repro that differ in how much of the compiler takes part. Pure.

Each runs what the one before runs and one part more (`docs/gpu.md`): what fails on a rung and passes on the one before is of
the part that the rung adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rung:
    """`switch` is for `bisect_tool.environments.compile_switch`; `adds` is what this rung runs and those before do not."""

    name: str
    switch: Mapping[str, object] = field(hash=False)
    adds: str


LADDER = (
    Rung("uncompiled", {"disable": True}, "the repro itself, not compiled"),
    Rung("eager", {"backend": "eager"}, "Dynamo"),
    Rung("aot_eager", {"backend": "aot_eager"}, "AOTAutograd"),
    Rung(
        "aot_eager_decomp_partition",
        {"backend": "aot_eager_decomp_partition"},
        "decompositions and the partitioner of AOTAutograd",
    ),
    Rung("inductor", {"backend": "inductor"}, "Inductor"),
)
SHAPES = (
    Rung("inductor, dynamic shapes", {"backend": "inductor", "dynamic": True}, "symbolic sizes from the first call"),
    Rung("inductor, static shapes", {"backend": "inductor", "dynamic": False}, "no symbolic sizes at all"),
)
GRAPHS = (
    Rung("inductor, CUDA graphs", {"backend": "inductor", "cudagraphs": True}, "CUDA graphs"),
    Rung("inductor, no CUDA graphs", {"backend": "inductor", "cudagraphs": False}, "no CUDA graphs"),
)


def rungs_for(device: str) -> tuple[Rung, ...]:
    """All rungs for `cpu` or `cuda`, the ladder first."""
    return (*LADDER, *SHAPES, *(GRAPHS if device == "cuda" else ()))


def rung_called(name: str) -> Rung:
    """The rung of that name. Raises `KeyError`."""
    return {rung.name: rung for rung in (*LADDER, *SHAPES, *GRAPHS)}[name]
