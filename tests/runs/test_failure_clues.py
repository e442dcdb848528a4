from __future__ import annotations

import pytest

from bisect_tool.history.clues import frames_in
from bisect_tool.history.projects import known_project
from bisect_tool.reports.report import Difference
from bisect_tool.runs.failure_clues import frames_text, issue_of, matches_of, pins_of
from bisect_tool.spec.model import Spec
from bisect_tool.trials.failure import FoundFailure, Signature, SignatureKind
from bisect_tool.trials.observation import Raised

SITE = "/tmp/cache/environments/x/lib/python3.11/site-packages"
WRAPPER = Raised(
    "torch._inductor.exc.InductorError", "LoweringException", "raised",
    ((f"{SITE}/torch/_dynamo/eval_frame.py", "call"), (f"{SITE}/torch/_inductor/compile_fx.py", "compile")),
)  # fmt: skip
CAUSE = Raised("AssertionError", "shape", "cause", ((f"{SITE}/torch/_inductor/lowering.py", "scatter"),))
HANDLED = Raised("KeyError", "x", "context", ((f"{SITE}/torch/_inductor/cache.py", "get"),))


def failure(*types: str) -> FoundFailure:
    return FoundFailure("1", Signature(SignatureKind.EXCEPTION, "shape", types), "")


def test_the_innermost_place_is_that_of_the_cause() -> None:
    frames = frames_in(frames_text([WRAPPER, CAUSE, HANDLED], failure("InductorError", "AssertionError")))
    assert [frame.file for frame in frames] == [
        "torch/_dynamo/eval_frame.py",
        "torch/_inductor/compile_fx.py",
        "torch/_inductor/cache.py",
        "torch/_inductor/lowering.py",
    ]


def test_without_a_known_cause_the_end_of_the_chain_is_the_innermost() -> None:
    frames = frames_in(frames_text([WRAPPER, CAUSE], failure()))
    assert frames[-1].function == "scatter"


def test_names_of_packages_are_pins_and_facts_are_not() -> None:
    names = ("triton", "torch: cuda", "nvidia-cublas-cu12")
    assert pins_of(Difference(name=name, before="1", after="2") for name in names) == ("triton", "nvidia-cublas-cu12")


def test_words_of_the_failures_of_a_spec() -> None:
    spec = Spec.model_validate(
        {"name": "a", "script": "a.py", "failures": [{"name": "zero", "match": r"gradient\s+is (all )?zero\d*"}]}
    )
    assert " ".join(" ".join(matches_of(spec, "zero")).split()) == "gradient is all zero"
    assert list(matches_of(spec, None)) == []


@pytest.mark.parametrize(
    ("address", "number"),
    [
        ("https://github.com/pallets/click/issues/2894", 2894),
        ("https://github.com/Pallets/click/pull/2829#discussion", 2829),
        ("https://github.com/openshift-eng/elliott/issues/355", None),
        ("https://github.com/pallets/click/discussions/1", None),
        (None, None),
    ],
)
def test_a_report_has_a_number_in_the_tracker_of_the_project_alone(address: str | None, number: int | None) -> None:
    spec = Spec(name="a", script="a.py", issue=address)
    assert issue_of(spec, known_project("click")) == number
    assert issue_of(spec, None) is None
