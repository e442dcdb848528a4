from __future__ import annotations

import ast

import pytest

from bisect_tool.spec.drafting.checking import check_values, judges, raise_again, raise_warning
from bisect_tool.spec.drafting.edits import applied

CLOSE = "torch.allclose(a, b, atol=0.0001)"
SETUP = "import torch\nf = torch.sin\nx = torch.ones(3)\n"


def added(text: str) -> list[str]:
    """The lines that are added to a script of wrong values, without their mark."""
    checked = check_values(SETUP + text, ast.parse(SETUP + text))
    if checked is None:
        return []
    before = (SETUP + text).splitlines()
    after = applied(SETUP + text, checked.edits).splitlines()
    return [line.partition(", equal_nan")[0].partition("  #")[0] for line in after if line not in before]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("print((a - b).abs().max())\n", ["torch.testing.assert_close(b, a"]),
        ("print((eager - out).abs().max())\n", ["torch.testing.assert_close(out, eager"]),
        ("print((out - ref).abs().max().item())\n", ["torch.testing.assert_close(out, ref"]),
        ("print(f'{torch.max(torch.abs(a.cpu() - b)):.3e}')\n", ["torch.testing.assert_close(b, a.cpu()"]),
        ("print('d', torch.norm(a - b))\n", ["torch.testing.assert_close(b, a"]),
        ("diff = (a - b).abs().max()\nprint(diff)\n", ["torch.testing.assert_close(b, a"]),
        ("loss = (a - b).abs().mean()\nloss.backward()\n", []),
        ("print((a - a.mean()).abs())\n", []),
        ("for n in range(3):\n    print((a - b).abs().max())\n", ["    torch.testing.assert_close(b, a"]),
        ("print(torch.allclose(a, b, atol=1e-4))\n", [f'assert {CLOSE}, "wrong values: {CLOSE} does not hold"']),
        ("print('equal', torch.equal(a, b))\n", ['assert torch.equal(a, b), "wrong values: torch.equal(a, b) does not hold"']),
        ("print(a, b)\n", []),
    ],
)  # fmt: skip
def test_what_is_printed_must_hold(text: str, lines: list[str]) -> None:
    assert added(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("want = f(x)\ngot = torch.compile(f)(x)\n", ["torch.testing.assert_close(got, want"]),
        ("g = torch.compile(f)\ngot = g(x)\nwant = f(x)\n", ["torch.testing.assert_close(got, want"]),
        ("want = f(x)\ngot = torch.compile(f, backend='aot_eager')(x)\n", []),
        ("f(x).backward()\ntorch.compile(f)(y).backward()\n", ["torch.testing.assert_close(y.grad, x.grad"]),
        ("f(x).sum().backward()\na = torch.compile(f)(y)\na.sum().backward()\n", ["torch.testing.assert_close(y.grad, x.grad"]),
        ("f(x).backward()\ntorch.compile(f)(x).backward()\n", []),
        ("want = f(x)\ngot = torch.compile(other)(x)\n", []),
        (
            "def run():\n    want = f(x)\n    got = torch.compile(f)(x)\n    return got\n",
            ["    torch.testing.assert_close(got, want"],
        ),
    ],
)  # fmt: skip
def test_compiled_and_plain_calls_of_one_function_must_agree(text: str, lines: list[str]) -> None:
    assert added(text) == lines


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, b): print((a - b).abs().max())\n",
        "if 1: print((a - b).abs().max())\nelse: print(2)\n",
        "print((a - b).abs().max()); s = '''\nx\n'''\n",
        "print((a - b).abs().max()); a = b = None\n",
        "print((a - b).abs().max()); \\\nprint(1)\n",
        "x = 1; \\\n  print((a - b).abs().max())\n",
    ],
)
def test_a_statement_that_shares_its_line_gets_no_check(text: str) -> None:
    assert added(text) == []


@pytest.mark.parametrize("end", [";", "  # as seen", " ;  # as seen"])
def test_a_statement_with_a_comment_behind_it_has_its_line_for_itself(end: str) -> None:
    assert added(f"print((a - b).abs().max()){end}\n") == ["torch.testing.assert_close(b, a"]


def test_where_the_printed_difference_shares_its_line_the_printed_comparison_is_checked() -> None:
    assert added("if 1: print((a - b).abs().max())\nprint(torch.equal(a, b))\n") == [
        'assert torch.equal(a, b), "wrong values: torch.equal(a, b) does not hold"'
    ]


def test_without_torch_nothing_is_added() -> None:
    text = "import numpy as np\nprint((a - b).abs().max())\n"
    assert check_values(text, ast.parse(text)) is None


@pytest.mark.parametrize(
    ("text", "raises"),
    [
        ("try:\n    f()\nexcept Exception as e:\n    print(e)\n", True),
        ("try:\n    f()\nexcept:\n    traceback.print_exc()\n", True),
        ("try:\n    f()\nexcept (ValueError, RuntimeError) as e:\n    print('no', e)\n", True),
        ("try:\n    import x\nexcept ImportError:\n    print('no x')\n", False),
        ("try:\n    f()\nexcept Exception:\n    pass\n", False),
        ("try:\n    f()\nexcept Exception:\n    x = g()\n    print(x)\n", False),
        ("try:\n    f()\nexcept Exception as e: print(e)\n", False),
    ],
)
def test_a_handler_that_only_prints_raises_again(text: str, raises: bool) -> None:  # noqa: FBT001
    checked = raise_again(text, ast.parse(text))
    assert (checked is not None) == raises
    if checked:
        assert applied(text, checked.edits).endswith("    raise  # added by bisect init\n")
        ast.parse(applied(text, checked.edits))


@pytest.mark.parametrize("text", ["assert x", "raise E", "import sys\nsys.exit(x)", "torch.testing.assert_close(a, b)"])
def test_scripts_that_judge_themselves(text: str) -> None:
    assert judges(ast.parse(text))
    assert not judges(ast.parse("print(1)"))


def run(text: str) -> None:
    exec(compile(text, "report", "exec"), {"__name__": "report"})


WARNS = '''"""Says something."""
from __future__ import annotations
import warnings
warnings.warn("old API (x) is\\ngone", stacklevel=1)
'''


def test_the_warning_that_is_quoted_ends_the_script_and_no_other() -> None:
    tree = ast.parse(WARNS)
    with pytest.warns(UserWarning, match="old API"):
        run(WARNS)
    with pytest.raises(UserWarning, match="old API"):
        run(applied(WARNS, raise_warning(WARNS, tree, r"API \(x\) is.gone").edits))
    with pytest.warns(UserWarning, match="old API"):
        run(applied(WARNS, raise_warning(WARNS, tree, "another").edits))


def test_the_filter_comes_between_two_statements_of_a_line() -> None:
    text = WARNS.replace("annotations\n", "annotations; ")
    with pytest.raises(UserWarning, match="old API"):
        run(applied(text, raise_warning(text, ast.parse(text), "old").edits))
