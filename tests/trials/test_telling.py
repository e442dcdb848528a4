from __future__ import annotations

import pytest

from bisect_tool.trials.telling import peel, telling_part


@pytest.mark.parametrize(
    ("kind", "message", "types", "rest"),
    [
        ("InductorError", "LoweringException: RuntimeError: no code", ("LoweringException", "RuntimeError"), "no code"),
        ("BackendCompilerFailed", "backend='inductor' raised:\nKeyError: 'a'", ("KeyError",), "'a'"),
        ("InductorError", "InvalidCxxCompiler: none", ("InvalidCxxCompiler",), "none"),
        ("RuntimeError", "torch._dynamo.exc.Unsupported: x", ("Unsupported",), "x"),
        ("RuntimeError", "Sizes: 3", (), "Sizes: 3"),
        ("RuntimeError", "Error: no", (), "Error: no"),
        ("InductorError", "AssertionError: \n  target: x", ("AssertionError",), "\n  target: x"),
        ("ValueError", "plain", (), "plain"),
    ],
)
def test_wrappers_are_peeled_off(kind: str, message: str, types: tuple[str, ...], rest: str) -> None:
    assert peel(kind, message) == (types, rest)


FAKE = "Dynamo failed to run FX node with fake tensors: call_function f(*(x,), **{}): got "


def test_what_dynamo_quotes_of_a_call_with_fake_tensors_is_the_error() -> None:
    old = peel("TorchRuntimeError", FAKE + "RuntimeError('a and b differ')\n\nfrom user code:\n")
    new = peel(
        "TorchRuntimeError",
        f"RuntimeError when making fake tensor call\n  Explanation: {FAKE}RuntimeError('a and b differ')\n",
    )
    assert old == new == (("RuntimeError",), "a and b differ")
    assert peel("TorchRuntimeError", FAKE + "KeyError('layout')") == (("KeyError",), "'layout'")


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("no code for it\n  target: aten.add\n  args[0]: 3", "no code for it"),
        ("\n  target: aten.add\n", ""),
        ("no code\n\nSet TORCHDYNAMO_VERBOSE=1 for more", "no code"),
        ("an illegal memory access\nCUDA kernel errors might be asynchronously reported", "an illegal memory access"),
        ("modified in place. Hint: enable anomaly detection", "modified in place"),
        ("cannot be traced. Please file a bug report.", "cannot be traced"),
        ("Error(s) in loading:\n\tMissing key(s): bias\n\tUnexpected", "Error(s) in loading: Missing key(s): bias"),
        ("mm: mat1 and mat2 differ", "mat1 and mat2 differ"),
        ("name 'summ' is not defined. Did you mean: 'sum'?", "name 'summ' is not defined"),
        ("Invalid backend: 'x', see `list_backends()` for more", "Invalid backend: 'x'"),
        ("gradient: wrong sum", "gradient: wrong sum"),
        ("maximum recursion depth exceeded in comparison", "maximum recursion depth exceeded"),
        ("'(' was never closed (gen.py, line 1)", "'(' was never closed"),
        ("", ""),
    ],
)
def test_the_first_line_tells_without_advice(message: str, told: str) -> None:
    assert telling_part(message) == told


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "C++ compile error\n\nCommand:\ng++ x.cpp\n\nOutput:\nx.cpp: In function f:\n"
            "x.cpp:15:33: error: no g\nx.cpp:16:1: error: h",
            "C++ compile error: no g",
        ),
        (
            "Error building extension 'mine': [1/2] c++ -o\n/usr/bin/ld: main.o: undefined reference to `f'",
            "Error building extension 'mine': [1/2] c++ -o: undefined reference to `f'",
        ),
        ("C++ compile error\n\nOutput:\nkilled", "C++ compile error"),
        ("at 12:34:\ndef kernel(x):\n    y = x\n        ^\nincompatible types", "incompatible types"),
        (
            "Internal Triton PTX codegen error\n`ptxas` stderr:\nptxas fatal : no sm_200",
            "no sm_200",
        ),
        (
            "Weights only load failed. Two options:\n\tWeightsUnpickler error: Unsupported global: x",
            "Unsupported global: x",
        ),
        (
            "Skipped function\n  Explanation: Dynamo cannot trace `time.sleep`. This function is builtin.\n  Hint: x",
            "Skipped function: Dynamo cannot trace `time.sleep`",
        ),
    ],
)
def test_another_line_tells_where_the_first_says_nothing(message: str, told: str) -> None:
    assert telling_part(message) == told
