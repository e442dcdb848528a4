from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from bisect_tool.history.clues import TORCH_COMPILER, Clues, Sought, collect_clues, with_part
from bisect_tool.history.commit import ChangedFile, Commit
from bisect_tool.history.folding import Listed, fold
from bisect_tool.history.parts import Part
from bisect_tool.history.suspects import rank

FRAMES = """
  File "/e/lib/python3.11/site-packages/torch/_dynamo/output_graph.py", line 1, in call_user_compiler
  File "/e/lib/python3.11/site-packages/torch/_inductor/scheduler.py", line 1, in fuse
ValueError: no way to order the nodes
"""


def commit(number: int, title: str, body: str = "") -> Commit:
    return Commit(f"{number:040x}", title, body, "Ada", datetime(2026, 3, 2, tzinfo=UTC))


def listed(*changes: tuple[str, str], body: str = "") -> tuple[Listed, ...]:
    """(title, files in one string) each."""
    commits = [commit(number, title, body) for number, (title, _) in enumerate(changes)]
    files = {
        made.sha: tuple(map(ChangedFile, paths.split())) for made, (_, paths) in zip(commits, changes, strict=True)
    }
    return fold(commits, files)


def titles(entries: tuple[Listed, ...], clues: Clues) -> list[str]:
    return [suspect.entry.commit.title for suspect in rank(entries, clues).suspects]


def test_the_file_of_the_exception_comes_before_those_of_the_way_there() -> None:
    entries = listed(
        ("Tidy the docs", "docs/source/index.rst"),
        ("Change outputs", "torch/_dynamo/output_graph.py"),
        ("Change order", "torch/_inductor/scheduler.py"),
        ("Change neighbour", "torch/_inductor/ir.py"),
    )
    assert titles(entries, collect_clues(failure=FRAMES)) == ["Change order", "Change outputs", "Change neighbour"]


def test_the_pass_that_the_bisector_names_comes_before_words_of_the_repro() -> None:
    entries = listed(
        ("Speed up cumsum", "torch/_inductor/lowering.py"),
        ("Generalize pointless_view to unsqueeze", "torch/_inductor/fx_passes/post_grad.py"),
        ("Tidy logging", "torch/_logging/a.py"),
    )
    clues = with_part(collect_clues(script="x.cumsum(0)"), ("torch/_inductor/fx_passes/",), ("pointless_view",))
    first = rank(entries, clues).suspects[0]
    assert first.entry.commit.title.startswith("Generalize")
    told = "its title names pointless_view, as the pass that the compiler bisector names does"
    assert told in [reason.text for reason in first.reasons]


def test_every_reason_is_said() -> None:
    entries = listed(
        ("Change order of nodes (#5)", "torch/_inductor/scheduler.py"), ("Other", "torch/nn/functional.py")
    )
    suspect = rank(entries, collect_clues(failure=FRAMES, script="x.cumsum(0)")).suspects[0]
    texts = [reason.text for reason in suspect.reasons]
    assert texts[0] == "touches torch/_inductor/scheduler.py, where the failure came up"
    assert "its title names order, as the failure does" in texts
    assert sum(reason.points for reason in suspect.reasons) == suspect.points
    assert suspect.doubts == ()


def test_a_file_below_src_is_the_file_of_the_package() -> None:
    frames = '  File "/e/lib/python3.11/site-packages/liger_kernel/ops/rope.py", line 1, in rope\nValueError: x\n'
    entries = listed(("One", "src/liger_kernel/ops/rope.py"), ("Two", "src/liger_kernel/ops/swiglu.py"))
    assert titles(entries, collect_clues(failure=frames))[0] == "One"


def test_an_operator_of_the_repro_in_the_title() -> None:
    entries = listed(("Speed up sort", "a.py"), ("Split cumprod along rows", "b.py"), ("Speed up topk", "c.py"))
    assert titles(entries, collect_clues(script="torch.cumprod(x, 1)")) == ["Split cumprod along rows"]


def test_a_word_that_every_commit_has_says_next_to_nothing() -> None:
    many = [(f"[inductor] Change {number}", f"torch/f{number}.py") for number in range(30)]
    entries = listed(*many, ("[inductor] Fuse cumprod", "torch/g.py"))
    suspects = rank(entries, collect_clues(failure="InductorError: inductor cannot fuse cumprod")).suspects
    assert suspects[0].entry.commit.title == "[inductor] Fuse cumprod"
    assert suspects[0].points > 20 * suspects[1].points


def test_a_long_script_does_not_drown_a_traceback() -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "sigma"]
    entries = listed((" ".join(words), "torch/other.py"), ("Change", "torch/_inductor/scheduler.py"))
    clues = collect_clues(failure=FRAMES, script=" ".join(words[:5]))
    assert titles(entries, clues)[0] == "Change"


def test_the_triton_pin_when_triton_differs() -> None:
    entries = listed(("Update pin", ".ci/docker/ci_commit_pins/triton.txt"), ("Other", "torch/a.py"))
    assert titles(entries, collect_clues(pins=["pytorch-triton"])) == ["Update pin"]
    assert titles(entries, collect_clues(pins=["nvidia-cudnn-cu13"])) == []


def test_a_dependency_that_moved() -> None:
    entries = listed(("Bump cudnn to 9.20", ".ci/docker/common/install_cudnn.sh"), ("Mention cudnn", "docs/a.rst"))
    assert titles(entries, collect_clues(pins=["nvidia-cudnn-cu13"])) == ["Bump cudnn to 9.20"]


def test_a_revert_for_a_fix_and_a_reland_for_a_break() -> None:
    entries = listed(
        ('Revert "Old change (#7)"', "torch/a.py"),
        ("Reland newer change", "torch/b.py"),
        ("Fix rounding", "torch/c.py"),
    )
    assert titles(entries, Clues(sought=Sought.FIX)) == ['Revert "Old change (#7)"', "Fix rounding"]
    assert titles(entries, Clues(sought=Sought.BREAK)) == ["Reland newer change"]


def test_a_reland_that_names_a_hash_has_the_words_of_what_it_brings_again() -> None:
    change, other = commit(1, "Fuse cumprod"), commit(2, "Other")
    back = commit(3, f"Reverts {change.sha}")
    again = commit(4, f"Reverts {back.sha}")
    ranking = rank(fold([change, other, back, again], {}), collect_clues(script="x.cumprod(0)"))
    assert [suspect.entry.sha for suspect in ranking.suspects] == [again.sha]
    assert "its title names cumprod, as the repro does" in [reason.text for reason in ranking.suspects[0].reasons]


def test_what_cancels_out_is_no_suspect() -> None:
    change = ("Fuse cumprod (#7)", "torch/a.py")
    entries = listed(change, ('Revert "Fuse cumprod (#7)"', "torch/a.py"))
    assert titles(entries, collect_clues(script="x.cumprod(0)")) == []


def test_tests_and_docs_come_last_but_are_not_hidden() -> None:
    entries = listed(("Test cumprod", "test/test_torch.py"), ("Change kernels", "torch/_inductor/cumprod.py"))
    suspects = rank(entries, collect_clues(script="x.cumprod(0)")).suspects
    assert [suspect.entry.commit.title for suspect in suspects] == ["Change kernels", "Test cumprod"]
    assert suspects[1].doubts == ("touches only tests, documentation or CI",)


def test_a_change_in_python_rules_out_the_others() -> None:
    entries = listed(
        ("Change cumprod kernel", "aten/src/ATen/native/ReduceOps.cpp"),
        ("Change cumprod lowering", "torch/_inductor/lowering.py"),
        ("Change cumprod in both", "torch/_inductor/ir.py aten/src/ATen/native/Sort.cpp"),
        ("Update triton pin", ".ci/docker/ci_commit_pins/triton.txt"),
    )
    ranking = rank(entries, collect_clues(script="x.cumprod(0)", part=Part.PYTHON))
    assert {suspect.entry.commit.title for suspect in ranking.suspects} == {
        "Change cumprod lowering",
        "Change cumprod in both",
    }
    assert [(entry.commit.title, why) for entry, why in ranking.ruled_out] == [
        ("Change cumprod kernel", "the change is in Python, and it touches none of that"),
        ("Update triton pin", "the change is in Python, and it touches none of that"),
    ]


def test_a_commit_of_unknown_files_is_never_ruled_out() -> None:
    entries = fold([commit(1, "Change cumprod kernel")], {})
    ranking = rank(entries, collect_clues(script="x.cumprod(0)", part=Part.PYTHON))
    assert (len(ranking.suspects), ranking.ruled_out) == (1, ())


def test_a_cherry_pick_of_the_older_build_is_doubted() -> None:
    one, two = listed(("Change cumprod", "torch/a.py"), ("Change cumprod too", "torch/b.py"))
    suspects = rank((replace(one, is_in_base=True), two), collect_clues(script="x.cumprod(0)")).suspects
    assert [suspect.entry.sha for suspect in suspects] == [two.sha, one.sha]
    assert suspects[1].doubts == ("the older build has it too, as a cherry-pick",)


def test_a_merge_gives_way_to_what_it_merged() -> None:
    inner = commit(1, "Change cumprod")
    merge = replace(commit(2, "Merge cumprod"), parents=("f" * 40, inner.sha))
    ranking = rank(fold([inner, merge], {}), collect_clues(script="x.cumprod(0)"))
    assert [suspect.entry.sha for suspect in ranking.suspects] == [inner.sha]
    alone = rank(fold([merge], {}), collect_clues(script="x.cumprod(0)"))
    assert [suspect.entry.sha for suspect in alone.suspects] == [merge.sha]


def test_named_files_and_folders() -> None:
    entries = listed(
        ("One", "torch/_inductor/fx_passes/post_grad.py"),
        ("Two", "torch/_dynamo/guards.py"),
        ("Three", "torch/nn/a.py"),
    )
    assert titles(entries, collect_clues(files=["torch/_inductor/fx_passes/post_grad.py", *TORCH_COMPILER])) == [
        "One",
        "Two",
    ]


def test_a_change_of_everything_says_less_than_a_change_of_one_file() -> None:
    everything = " ".join(f"torch/f{number}.py" for number in range(400))
    entries = listed(
        ("Reformat", f"torch/_inductor/scheduler.py {everything}"), ("Change order", "torch/_inductor/scheduler.py")
    )
    suspects = rank(entries, collect_clues(failure=FRAMES)).suspects
    assert suspects[0].entry.commit.title == "Change order"
    assert suspects[0].points > 2 * suspects[1].points


def test_nothing_known_gives_no_suspects() -> None:
    assert rank(listed(("One", "torch/a.py"), ("Two", "torch/b.py")), Clues()).suspects == ()
    assert rank((), Clues()).suspects == ()


def test_binaries_may_change_with_what_they_are_built_with() -> None:
    entries = fold(
        [commit(1, "Newer compiler flags"), commit(2, "Tidy Python")],
        {f"{1:040x}": (ChangedFile("setup.py"),), f"{2:040x}": (ChangedFile("torch/functional.py"),)},
    )
    ranking = rank(entries, collect_clues(part=Part.NATIVE))
    assert [entry.commit.title for entry, _ in ranking.ruled_out] == ["Tidy Python"]


def test_a_repair_that_names_the_report_comes_first() -> None:
    entries = listed(
        ("Speed up cumsum (#5890)", "torch/_inductor/lowering.py"),
        ("Fix #589", "torch/a.py"),
        ("Fix cumsum", "torch/_inductor/lowering.py"),
    )
    clues = replace(collect_clues(sought=Sought.FIX, script="x.cumsum(0)"), issue=589)
    first = rank(entries, clues).suspects[0]
    assert first.entry.commit.title == "Fix #589"
    assert first.reasons[0].text == "names #589, the report"


def test_what_broke_it_was_written_before_the_report_unless_the_spec_names_it() -> None:
    entries = listed(("See #589", "torch/a.py"), ("Change sums (#588)", "torch/b.py"))
    assert rank(entries, Clues(issue=589)).suspects == ()
    (suspect,) = rank(entries, Clues(issue=588)).suspects
    assert [reason.text for reason in suspect.reasons] == ["is #588, which the spec names"]
