from __future__ import annotations

import re

import pytest

from bisect_tool.spec.drafting.expected import (
    Kind,
    find_kind,
    find_raised,
    is_the_failure,
    match_of,
    name_of,
    short_match_of,
    signal_of,
    speaks_of_warnings,
)


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


LIST = "RuntimeError: shape mismatch: [1, 2, 3, 4, 5, 6, 7, 8] is not foo"


def test_a_list_of_numbers_has_no_more_than_two_gaps_that_are_tried_again() -> None:
    raised = find_raised(lines(LIST), [])
    assert raised is not None
    found, numbers = match_of(raised), ", ".join(map(str, range(200)))
    assert len(re.sub(r"\(\?>[^)]*\)", "", found).split(".*")) <= 3
    assert re.search(found, LIST.replace("4", "17"))
    assert re.search(found, f"shape mismatch: [{numbers}] x is not foo, then bar")
    assert not re.search(found, f"shape mismatch: [{numbers}] is not bar")  # without a bound this ends after years


def test_the_short_pattern_ends_before_the_third_gap() -> None:
    raised = find_raised(lines(LIST), [])
    assert raised is not None
    assert short_match_of(raised) == r"shape mismatch: \[.*, .*, "
    assert re.search(short_match_of(raised), LIST)


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
        ("Speed difference of backward between releases", Kind.SLOW),
        ("cumsum took 10 times longer", Kind.SLOW),
        ("The loss is always 0", Kind.WRONG),
        ("linregress raises ValueError for nan", Kind.EXCEPTION),
    ],
)
def test_the_kind_of_failure(title: str, kind: Kind) -> None:
    assert find_kind(title, [], None)[0] is kind


def test_zeros_of_an_input_are_no_wrong_values_where_an_exception_is_quoted() -> None:
    title = "fit fails for an array of zeros"
    assert find_kind(title, [], None)[0] is Kind.WRONG
    assert find_kind(title, [], find_raised(lines("FloatingPointError: invalid value"), []))[0] is Kind.EXCEPTION


NUMPY_IS_MISSING = "x.py:17: UserWarning: numpy is not installed"


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("Linear crashes", f"It crashes.\n## Environment\n{NUMPY_IS_MISSING}", False),
        ("Linear crashes", f"## SciPy version and system information\n{NUMPY_IS_MISSING}", False),
        ("New warning of Linear", f"## Environment\n{NUMPY_IS_MISSING}", True),
        ("Noise of Linear", f"I get\n{NUMPY_IS_MISSING}", True),
    ],
)
def test_whether_a_report_is_about_warnings(title: str, text: str, *, expected: bool) -> None:
    assert speaks_of_warnings(title, lines(text)) is expected


def test_an_exception_goes_before_a_warning_of_the_same_log() -> None:
    raised = find_raised(lines("UserWarning: old\nValueError: bad shape\nUserWarning: leaked"), [])
    assert raised is not None
    assert raised.shown == "ValueError: bad shape"


def test_where_no_warning_can_be_the_failure_there_is_none() -> None:
    assert find_raised(lines("UserWarning: old"), [], is_warning=False) is None


@pytest.mark.parametrize(
    "text", ["BUG: AttributeError for an empty frame", "It raises a `AttributeError` for empty frames"]
)
def test_an_exception_without_its_words(text: str) -> None:
    raised = find_raised(lines(text), [])
    assert raised is not None
    assert (name_of(raised), match_of(raised)) == ("attribute-error", "AttributeError")


def test_an_exception_that_is_caught_is_none_that_is_raised() -> None:
    assert find_raised(lines("Wrap it in an AttributeError handler"), []) is None


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        (Kind.HANG, "RuntimeError: stopped by hand", False),
        (Kind.HANG, "TimeoutError: timed out", True),
        (Kind.CRASH, "RuntimeError: DataLoader worker is killed by signal", True),
        (Kind.CRASH, "ValueError: x", False),
        (Kind.MEMORY, "OutOfMemoryError: out of memory", True),
        (Kind.EXCEPTION, "ValueError: x", True),
    ],
)
def test_what_a_report_of_another_kind_quotes(kind: Kind, said: str, *, expected: bool) -> None:
    raised = find_raised(lines(said), [])
    assert raised is not None
    assert is_the_failure(raised, kind) is expected


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("conv2d: segfault", "", ("segmentation-fault", "SIGSEGV", 0)),
        ("conv2d crashes", "double free\nAborted (core dumped)", ("abort", "SIGABRT", 2)),
        ("conv2d crashes", "Illegal instruction", ("illegal-instruction", "SIGILL", 1)),
        ("conv2d crashes", "core dumped", None),
    ],
)
def test_the_signal_of_a_crash(title: str, text: str, expected: tuple[str, str, int] | None) -> None:
    assert signal_of(title, lines(text)) == expected
