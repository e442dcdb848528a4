from __future__ import annotations

from bisect_tool.history.words import words_of, words_of_code, words_of_paths


def test_identifiers_whole_and_in_pieces() -> None:
    assert words_of("torch.diagonal_scatter(x)") == {"diagonal_scatter", "diagonal", "scatter"}
    assert words_of("TritonSplitScanKernel") == {"tritonsplitscankernel", "split", "scan", "kernel", "triton"}
    assert words_of("addcdiv_ _inductor") == {"addcdiv", "inductor"}


def test_what_everything_has_is_left_out() -> None:
    assert words_of("def test(self): return print(x) # the fix of an error") == set()


def test_comments_of_a_script_do_not_count() -> None:
    assert words_of_code("# cumprod was here\ny = cumsum(x)\n") == {"cumsum"}


def test_paths() -> None:
    assert words_of_paths(["torch/_inductor/codegen/cpp_wrapper.py"]) == {
        "inductor",
        "codegen",
        "cpp_wrapper",
        "cpp",
        "wrapper",
    }
