from __future__ import annotations

import re

import pytest

from bisect_tool.spec.drafting.expected import Kind, find_kind, find_raised, match_of, name_of


def lines(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.split("\n"), start=1))


def shown(text: str, code: str = "") -> str | None:
    raised = find_raised(lines(text), lines(code))
    return raised.shown if raised else None


CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
TRACEBACK = (
    'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    raise ValueError("x")\nValueError: first\n'
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRACEBACK, "ValueError: first"),
        (TRACEBACK + CAUSE + TRACEBACK.replace("first", "second"), "ValueError: second"),
        ("torch._inductor.exc.InductorError: LoweringException: RuntimeError: no code for x", "RuntimeError: no code for x"),
        ("It raises `RuntimeError: no such thing`.", "RuntimeError: no such thing"),
        ("[rank0]: RuntimeError: NCCL is gone", "RuntimeError: NCCL is gone"),
        ("> KeyError: 'a'", "KeyError: 'a'"),
        ("except ValueError: pass", None),
        ("AssertionError", "AssertionError"),
        ("E: all is well, says Error", None),
        ("RuntimeError: bad Set TORCHDYNAMO_VERBOSE=1 for more", "RuntimeError: bad"),
    ],
)  # fmt: skip
def test_the_exception_that_a_report_quotes(text: str, expected: str | None) -> None:
    assert shown(text) == expected


def test_an_exception_in_comments_of_the_code_goes_on_in_the_next() -> None:
    assert shown("", "f(x)\n# RuntimeError: no code for\n# this op\nprint(1)") == "RuntimeError: no code for this op"


@pytest.mark.parametrize(
    ("quoted", "pattern", "printed"),
    [
        ("RuntimeError: size 5 at 0x7f is wrong", "size .* at .*wrong", "RuntimeError: size 17 at 0x99 is wrong"),
        ("IndexError: list index out of range", "IndexError: list index out of range", "IndexError: list index out of range"),
        (
            "RuntimeError: Unable to do the op, because there are lifted arguments",
            "Unable to do .*op, .*lifted arguments",
            "RuntimeError: Unable to do op, because there are unsupported lifted arguments",
        ),
        ("TypeError: f() got (a|b)* [c]", r"TypeError: f\(\) got \(a\|b\)\* \[c\]", "TypeError: f() got (a|b)* [c]"),
        ("ValueError: cannot open /home/me/x.py", "ValueError: cannot open", "ValueError: cannot open /tmp/y.py"),
        ("RuntimeError: `x` isn't here, sorry", "RuntimeError: .x. isn.t here, sorry", "RuntimeError: 'x' isn’t here, sorry"),
    ],
)  # fmt: skip
def test_the_pattern_leaves_open_what_differs(quoted: str, pattern: str, printed: str) -> None:
    raised = find_raised(lines(quoted), [])
    assert raised is not None
    found = match_of(raised)
    assert found in {pattern, pattern.removeprefix(f"{raised.cause}: ")}
    assert re.search(found, printed)


def test_names_of_failures_hold_no_numbers() -> None:
    raised = find_raised(lines("RuntimeError: buf12 of 64 has no layout"), [])
    assert raised is not None
    assert name_of(raised) == "has-layout"


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("torch.compile silently returns zeros", Kind.WRONG),
        ("Inductor crashes for cumsum", Kind.EXCEPTION),
        ("Segmentation fault in conv2d", Kind.CRASH),
        ("DataLoader hangs at exit", Kind.HANG),
        ("matmul is 3x slower on CPU", Kind.SLOW),
        ("Memory leak in ModuleTracker", Kind.MEMORY),
        ("New warning from torch.set_float32_matmul_precision", Kind.WARNING),
        ("Wrong gradient of cumprod", Kind.WRONG),
        ("Something about conv", Kind.EXCEPTION),
    ],
)
def test_the_kind_of_failure(title: str, kind: Kind) -> None:
    assert find_kind(title, [], None)[0] is kind
