"""An attempt as text: it fits the terminal, the outputs stand side by side where there is room, and every part is told."""

from __future__ import annotations

import pytest

from bisect_tool.reports.attempt import Attempt, LearnedFailure, TriedBuild, TriedCase, Unseen
from bisect_tool.reports.attempt_text import render, render_rich
from bisect_tool.reports.discovery import Discovery, TriedConfiguration
from bisect_tool.reports.rates import Rate
from bisect_tool.reports.report import Machine, Signature, SpecPart

ERROR = "IndexError: tuple index out of range"
MACHINE = Machine(platform="Linux", python="cpython-3.11.7", device="cpu", cpu="EPYC", tool="bisect 0.1.0", uv="0.9")
FOUND = Discovery(
    wanted=("index-error",),
    found=("dtype float64",),
    sentence="dtype float64: it shows (2 of 2 trials on 2.14.1); as it is, 0 of 1",
    fragment="# instead of `script: repro.py`\ncommand: [python, bisect_configured.py]\n",
    tried=(
        TriedConfiguration(build="2.14.1", shows="passes", trials=1),
        TriedConfiguration(
            changes=("dynamic yes",), build="2.14.1", shows="another failure", detail=ERROR, trials=1, seconds=8
        ),
        TriedConfiguration(
            changes=("dtype float64",), build="2.14.1", shows="the failure", shown=2, trials=2, seconds=21
        ),
    ),
    cannot=("device: this machine has no other one",),
    trials=3,
    seconds=29,
    notes=("the spec has no control",),
)


def case(name: str, state: str, **more: object) -> TriedCase:
    base = {
        "name": name,
        "role": "test",
        "command": f"python repro.py {name}",
        "state": state,
        "trials": 1,
        "duration_s": 3.25,
    }
    return TriedCase.model_validate(base | more)


def sample(**more: object) -> Attempt:
    cases = (
        case("eager", "pass", role="control", output=("fine with 2.14.1",)),
        case(
            "inductor",
            "failing",
            failures=("=index",),
            output=("\tFile one", "x" * 300, f"torch.InductorError: {ERROR}"),
        ),
        case("now-and-then", "flaky", failed=Rate(shown=3, trials=5, low=0.147, high=0.947)),
        case("cannot", "untestable", reason="no such dtype", duration_s=None),
    )
    signature = Signature(kind="exception", title=ERROR, where="torch/_inductor/post_grad.py:repl")
    base: dict[str, object] = {
        "outcome": "judged",
        "spec": SpecPart(name="cumsum", title="Inductor: IndexError", package="torch", digest="0" * 64),
        "build": TriedBuild(
            version="2.14.1",
            date="2026-10-08T04:00:00+00:00",
            revision="449b1768410104",
            channel="release",
            source="index",
        ),
        "cases": cases,
        "failures": (
            LearnedFailure(
                id="=index", named="index-error", match="tuple index", signature=signature, cases={"inductor": 1}
            ),
        ),
        "unseen": (Unseen(name="wrong-sum", match="wrong cumsum"),),
        "controls_pass": True,
        "trials": 4,
        "trials_known": 1,
        "elapsed_s": 12.5,
        "environment": MACHINE,
        "advice": ("put `flaky: yes` into the spec",),
        "next": ("bisect run spec.yaml",),
    }
    return Attempt.model_validate(base | more)


@pytest.mark.parametrize("width", [72, 80, 100, 160, 240])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    made = sample(discovery=FOUND)
    assert [line for line in render(made, width).split("\n") if len(line) > width] == []
    assert render_rich(made, width).plain == render(made, width)


def test_the_table_says_what_each_case_is() -> None:
    lines = render(sample(), 160).split("\n")
    assert lines[:2] == [
        "Inductor: IndexError",
        "torch 2.14.1 (2026-10-08, commit 449b17684101) on cpu, cpython-3.11.7",
    ]
    assert lines[3:7] == [
        "✓ eager         control  pass                                 3.2 s",
        f"✗ inductor      test     failing                              3.2 s  index-error: {ERROR}",
        "~ now-and-then  test     flaky, 3 of 5 failed (15 % to 95 %)  3.2 s",
        "? cannot        test     untestable                                  no such dtype",
    ]


def test_outputs_stand_side_by_side_where_there_is_room() -> None:
    wide = [line for line in render(sample(), 160).split("\n") if line.startswith("─")]
    assert len(wide) == 1
    assert wide[0].count("─ ✓ eager ─") == wide[0].count("─ ✗ inductor ─") == 1
    narrow = [line for line in render(sample(), 80).split("\n") if line.startswith("─")]
    assert [line.strip("─ ") for line in narrow] == ["✓ eager", "✗ inductor"]


def test_names_controls_and_the_next_command_are_told() -> None:
    text = render(sample(), 100)
    assert "   index-error  IndexError: tuple index out of range\n" in text
    assert "in inductor (1 of 1 trial); known by: exception, raised in" in text
    assert "wrong-sum    named in the spec, not seen (match `wrong cumsum`)" in text
    assert "controls pass: eager" in text
    assert "next:\n   bisect run spec.yaml\n" in text
    assert "4 trials run, 1 known before" in text


def test_a_build_that_cannot_be_used_and_no_failure() -> None:
    build = TriedBuild(version="2.14.1", channel="release", source="index", unusable="no module inside")
    text = render(sample(build=build, failures=(), cases=()), 100)
    assert "=> this build cannot be used: no module inside" in text
    assert "none: nothing fails here" in text


def test_a_discovery_says_what_to_write_and_what_was_tried() -> None:
    text = render(sample(discovery=FOUND), 100)
    assert "=> configuration: dtype float64: it shows (2 of 2 trials on 2.14.1); as it is, 0 of 1" in text
    assert "in the spec:\n   # instead of `script: repro.py`\n   command: [python, bisect_configured.py]\n" in text
    assert "   ✓ as it is       0 of 1\n" in text
    assert f"   ~ dynamic yes    0 of 1  8.0 s  {ERROR}\n" in text
    assert "   ✗ dtype float64  2 of 2  21 s\n" in text
    assert "not tried: device: this machine has no other one" in text
