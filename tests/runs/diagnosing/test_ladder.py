from __future__ import annotations

import pytest

from bisect_tool.runs.diagnosing.ladder import Blamed, Shown, Step, climb, conditions, shown_by
from bisect_tool.runs.diagnosing.rungs import LADDER, rungs_for
from bisect_tool.trials.failure import (
    CannotJudge,
    Failed,
    FoundFailure,
    MachineAtFault,
    Passed,
    Signature,
    SignatureKind,
)

SYMBOLS = {"x": Shown.WANTED, ".": Shown.PASSES, "o": Shown.OTHER, "?": Shown.NOT_JUDGED}


def steps(strip: str) -> list[Step]:
    """One symbol for each rung: x the failure, . passes, o another failure, ? cannot judge."""
    return [
        Step(rung.name, SYMBOLS[symbol], "CompilerError: x" if symbol == "o" else "")
        for rung, symbol in zip(LADDER, strip, strict=True)
    ]


@pytest.mark.parametrize(
    ("strip", "rung", "words"),
    [
        ("....x", "inductor", "aot_eager_decomp_partition passes, inductor fails: it is in Inductor"),
        ("...xx", "aot_eager_decomp_partition", "it is in decompositions and the partitioner of AOTAutograd"),
        ("..xxx", "aot_eager", "it is in AOTAutograd"),
        (".xxxx", "eager", "it is in Dynamo"),
        ("xxxxx", "uncompiled", "it fails without the compiler, too"),
        ("..oxx", None, "aot_eager_decomp_partition fails, and aot_eager cannot be told: CompilerError: x"),
        ("...?x", None, "inductor fails, and aot_eager_decomp_partition cannot be told: cannot judge"),
        (".x..x", None, "eager fails and aot_eager, which runs more, does not"),
        (".....", None, "no rung of the ladder shows the failure"),
        ("....o", None, "no rung of the ladder shows the failure (inductor: CompilerError: x)"),
    ],
)
def test_where_the_failure_begins(strip: str, rung: str | None, words: str) -> None:
    blamed = climb(steps(strip))
    assert blamed.rung == rung
    assert blamed.sentence.endswith(words)


def test_a_rung_above_that_shows_another_failure_takes_nothing_away() -> None:
    assert climb(steps(".x.xx")).rung is None
    assert climb(steps(".xoxx")).rung == "eager"


def failed(*names: str, title: str = "boom") -> Failed:
    signature = Signature(SignatureKind.EXCEPTION, title=title)
    return Failed(tuple(FoundFailure(name, signature, "text") for name in names))


def test_only_the_failure_that_is_looked_for_counts() -> None:
    assert shown_by(failed("other", "wanted"), "wanted") == (Shown.WANTED, "")
    assert shown_by(failed("other", title="RuntimeError: x"), "wanted") == (Shown.OTHER, "RuntimeError: x")
    assert shown_by(Passed(), "wanted") == (Shown.PASSES, "")
    assert shown_by(CannotJudge("no memory"), "wanted") == (Shown.NOT_JUDGED, "no memory")
    assert shown_by(MachineAtFault("killed", "free memory"), "wanted") == (Shown.NOT_JUDGED, "killed")


def test_a_backend_that_the_build_does_not_have_is_no_failure() -> None:
    shown = shown_by(failed("other", title="InvalidBackend: Invalid backend: 'aot_eager_decomp_partition'"), "wanted")
    assert shown == (Shown.NOT_JUDGED, "this build has no such backend")


def test_shapes_and_graphs_are_told_where_they_decide() -> None:
    def shown(**cells: Shown) -> tuple[str, ...]:
        return conditions(
            [Step(name.replace("_", " ").replace("inductor ", "inductor, "), cell) for name, cell in cells.items()]
        )

    assert shown(inductor_dynamic_shapes=Shown.WANTED, inductor_static_shapes=Shown.PASSES) == (
        "only with dynamic shapes",
    )
    assert shown(inductor_dynamic_shapes=Shown.PASSES, inductor_static_shapes=Shown.WANTED) == (
        "only with static shapes",
    )
    assert shown(inductor_dynamic_shapes=Shown.OTHER, inductor_static_shapes=Shown.WANTED) == ()
    assert shown(inductor_dynamic_shapes=Shown.WANTED, inductor_static_shapes=Shown.WANTED) == (
        "with dynamic shapes and with static shapes alike",
    )


def test_cuda_has_two_rungs_more() -> None:
    assert len(rungs_for("cuda")) == len(rungs_for("cpu")) + 2


def test_nothing_was_tried() -> None:
    assert climb([]) == Blamed(None, "no rung of the ladder shows the failure")
