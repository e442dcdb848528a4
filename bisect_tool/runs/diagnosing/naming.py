"""What the part of a compiler is called, and where in PyTorch's repository it lies. Pure.

Names of backends and subsystems are those of `torch/_inductor/compiler_bisector.py` (2.6 to 2.15).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bisect_tool.reports.diagnosis import Diagnosis
from bisect_tool.runs.diagnosing.rungs import rung_called

ARROW = " → "
UNCOMPILED = "uncompiled"  # the rung, and what is said instead of a part of the compiler

# Where the code of a rung or subsystem lies; one that ends in `/` is a folder.
_FILES: Mapping[str, tuple[str, ...]] = {
    "eager": ("torch/_dynamo/",),
    "aot_eager": ("torch/_functorch/",),
    "aot_eager_decomp_partition": ("torch/_functorch/", "torch/_decomp/", "torch/_refs/"),
    "aot_eager_decomp_partition_crossref": ("torch/_decomp/", "torch/_refs/"),
    "inductor": ("torch/_inductor/",),
    "decomposition": ("torch/_inductor/decomposition.py", "torch/_decomp/", "torch/_refs/"),
    "aot_eager_decomp_partition_cse": ("torch/_functorch/compile_utils.py",),
    "pre_grad_passes": ("torch/_inductor/fx_passes/pre_grad.py", "torch/_inductor/fx_passes/"),
    "joint_graph_passes": ("torch/_inductor/fx_passes/joint_graph.py", "torch/_inductor/fx_passes/"),
    "post_grad_passes": ("torch/_inductor/fx_passes/post_grad.py", "torch/_inductor/fx_passes/"),
    "cudagraphs": ("torch/_inductor/cudagraph_trees.py", "torch/_inductor/cudagraph_utils.py"),
    "lowerings": ("torch/_inductor/lowering.py", "torch/_inductor/ir.py", "torch/_inductor/"),
    "inductor_fallback_random": ("torch/_inductor/fx_passes/replace_random.py", "torch/_inductor/inductor_prims.py"),
    "inductor_emulate_precision_casts": ("torch/_inductor/codegen/",),
    "inductor_layout_optimization": ("torch/_inductor/graph.py", "torch/_inductor/"),
    "inductor_comprehensive_padding": ("torch/_inductor/ir.py", "torch/_inductor/"),
}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
_NAMES_NOTHING = re.compile(r"pass_pattern_\d+|not found")


@dataclass(frozen=True, slots=True)
class Bisected:
    """What PyTorch's compiler bisector found. `number` counts applications of the subsystem from 0; there were `of` of them.

    `what` is what it says of the application: the name of a pass, the node that is lowered.
    """

    backend: str
    subsystem: str | None = None
    number: int | None = None
    of: int | None = None
    what: str | None = None

    @property
    def is_setting(self) -> bool:
        """Whether it found a setting whose change cures the failure: these have no applications."""
        return self.subsystem is not None and self.number == 0 and self.of is None and self.what == self.subsystem


def words_of_bisected(found: Bisected) -> str:
    """`inductor → post_grad_passes → application 3 of 7 (pointless_cumsum_replacement)`."""
    parts = [found.backend]
    if found.subsystem and found.is_setting:
        parts.append(f"setting {found.subsystem.removeprefix(f'{found.backend}_')}")
    elif found.subsystem:
        parts.append(found.subsystem)
        if found.number is not None:
            total = f" of {found.of}" if found.of is not None else ""
            parts.append(f"application {found.number + 1}{total}" + (f" ({found.what})" if found.what else ""))
    return ARROW.join(parts)


def words_of_rung(rung: str | None) -> str | None:
    """`eager: Dynamo`: the rung at which the failure begins, with what it adds where its name does not say it."""
    if rung is None or rung in (UNCOMPILED, "inductor"):
        return rung
    return f"{rung}: {rung_called(rung).adds}"


def files_of(rung: str | None, found: Bisected | None) -> tuple[str, ...]:
    """The files and folders where the part lies, the most precise first."""
    if found is None:
        return _FILES.get(rung or "", ())
    named = _FILES.get(found.subsystem or "", ())
    return named or _FILES.get(found.backend, ())


def names_in(found: Bisected | None) -> tuple[str, ...]:
    """The names of passes and operators that the bisector gives: words to look for in commits."""
    if found is None or found.what is None or found.is_setting:
        return ()
    return tuple(dict.fromkeys(_WORD.findall(_NAMES_NOTHING.sub("", found.what))))


def summary_of(diagnosis: Diagnosis) -> str:
    """One sentence for the top of the report."""
    where = f"{diagnosis.failure} of {diagnosis.case} on {diagnosis.build}"
    if diagnosis.part is None:
        return f"Which part of the compiler makes {where} was not found: {diagnosis.sentence}."
    if diagnosis.part == UNCOMPILED:
        return f"{where} is not made by the compiler: it fails without it, too."
    return f"The part of the compiler that makes {where}: {diagnosis.part}."
