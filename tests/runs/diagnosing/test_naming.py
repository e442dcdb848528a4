from __future__ import annotations

from bisect_tool.reports.diagnosis import Diagnosis
from bisect_tool.runs.diagnosing.naming import (
    Bisected,
    files_of,
    names_in,
    summary_of,
    words_of_bisected,
    words_of_rung,
)

PASS = Bisected("inductor", "post_grad_passes", 2, 7, "pointless_cumsum_replacement")
SETTING = Bisected("inductor", "inductor_layout_optimization", 0, None, "inductor_layout_optimization")
NODE = Bisected("inductor", "lowerings", 0, 4, "%addcdiv : call_function[target=torch.ops.aten.addcdiv.default]")


def test_the_part_in_words() -> None:
    assert words_of_bisected(PASS) == "inductor → post_grad_passes → application 3 of 7 (pointless_cumsum_replacement)"
    assert words_of_bisected(Bisected("inductor", "lowerings", 4, None, None)) == "inductor → lowerings → application 5"
    assert words_of_bisected(SETTING) == "inductor → setting layout_optimization"
    assert words_of_bisected(Bisected("aot_eager")) == "aot_eager"


def test_a_rung_in_words() -> None:
    assert words_of_rung("eager") == "eager: Dynamo"
    assert words_of_rung("inductor") == "inductor"
    assert words_of_rung("uncompiled") == "uncompiled"
    assert words_of_rung(None) is None


def test_where_the_part_lies() -> None:
    assert files_of("inductor", PASS)[0] == "torch/_inductor/fx_passes/post_grad.py"
    assert files_of("inductor", Bisected("inductor")) == ("torch/_inductor/",)
    assert files_of("eager", None) == ("torch/_dynamo/",)
    assert files_of(None, None) == ()


def test_the_names_that_point_to_commits() -> None:
    assert names_in(PASS) == ("pointless_cumsum_replacement",)
    assert "addcdiv" in names_in(NODE)
    assert names_in(Bisected("inductor", "post_grad_passes", 1, 7, "pass_pattern_1")) == ()
    assert names_in(SETTING) == ()
    assert names_in(None) == ()


def diagnosis(part: str | None) -> Diagnosis:
    return Diagnosis(
        case="inductor", failure="index-error", build="2.14.1", without="2.15.0", part=part, sentence="why"
    )


def test_the_sentence_at_the_top() -> None:
    assert summary_of(diagnosis("inductor → lowerings")) == (
        "The part of the compiler that makes index-error of inductor on 2.14.1: inductor → lowerings."
    )
    assert summary_of(diagnosis("uncompiled")).endswith("is not made by the compiler: it fails without it, too.")
    assert summary_of(diagnosis(None)).endswith("was not found: why.")
