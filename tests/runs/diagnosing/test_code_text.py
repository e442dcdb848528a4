from __future__ import annotations

from bisect_tool.runs.diagnosing.code_text import MOST_LINES, compare, stages_in

HEAD = "V1130 11:40:00.123000 12345 torch/_inductor/graph.py:2400] [0/0] "
LABELS = ("2.15.0", "2.14.1")


def log(artifact: str, *lines: str) -> str:
    return "".join(f"{HEAD}[__{artifact}] {line}\n" for line in lines)


def test_a_log_falls_into_stages_in_the_order_of_the_compiler() -> None:
    text = (
        log("output_code", "call(x)") + "a line of the repro\n" + log("graph_code", "def forward(x):", "    return x")
    )
    assert stages_in(text) == {"graph_code": ("def forward(x):", "    return x"), "output_code": ("call(x)",)}


def test_what_means_nothing_is_taken_out() -> None:
    one = log(
        "output_code",
        '#include "/tmp/torchinductor_me/abc/cpp.h"',
        "",
        "x = 1  # from repro.py:3",
        "async_compile.wait()",
    )
    two = log("output_code", '#include "/var/other/xyz/cpp.h"', "x = 1", "async_compile.wait()  // done")
    assert stages_in(one) == stages_in(two)


def test_only_the_kernels_and_the_call_of_a_module_count() -> None:
    frame = (
        "from torch import device",
        "async_compile = AsyncCompile()",
        "def call(args):",
        "def benchmark_compiled_module(times=10):",
    )
    assert stages_in(log("output_code", *frame)) == {
        "output_code": ("async_compile = AsyncCompile()", "def call(args):")
    }


def test_the_first_stage_that_differs_is_named_with_its_diff() -> None:
    before = {"graph_code": ("a",), "post_grad_graphs": ("b",), "output_code": ("c",)}
    after = {"graph_code": ("a",), "post_grad_graphs": ("B",), "output_code": ("C",)}
    found = compare(before, after, LABELS)
    assert found.first == "post_grad_graphs"
    assert found.diff.splitlines() == ["--- 2.15.0", "+++ 2.14.1", "@@ -1 +1 @@", "-b", "+B"]
    assert found.sentence == "the two builds differ first in the graphs after Inductor's passes"


def test_a_stage_that_one_build_never_reached() -> None:
    found = compare({"graph_code": ("a",), "output_code": ("c",)}, {"graph_code": ("a",)}, LABELS)
    assert found.first is None
    assert found.missing == ("output_code",)
    assert found.sentence == "as far as both came, it is the same; 2.14.1 never came to the generated code"


def test_kernels_that_only_one_build_has_are_named() -> None:
    before = {"output_code": ("def triton_poi_fused_add_0(in_ptr0):", "extern_kernels.mm(x, y)")}
    after = {"output_code": ("def triton_poi_fused_zeros_0(in_ptr0):", "extern_kernels.mm(x, y)")}
    assert compare(before, after, LABELS).sentence == (
        "the two builds differ first in the generated code; only 2.15.0 has triton_poi_fused_add_0; "
        "only 2.14.1 has triton_poi_fused_zeros_0"
    )


def test_the_same_and_nothing() -> None:
    assert compare({"graph_code": ("a",)}, {"graph_code": ("a",)}, LABELS).sentence == (
        "what both builds made of it is the same"
    )
    assert compare({}, {}, LABELS).sentence == "no code was logged"


def test_a_long_diff_is_cut_and_says_so() -> None:
    lines = tuple(f"x{number}" for number in range(MOST_LINES))
    diff = compare({"output_code": ()}, {"output_code": lines}, LABELS).diff.splitlines()
    assert len(diff) == MOST_LINES + 1
    assert diff[-1] == "… 3 more lines"
