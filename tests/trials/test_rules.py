"""The number of the rules by which failures get their identities."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

from bisect_tool.trials import judge
from bisect_tool.trials.judge import RULES

ROOM = Path(judge.__file__).parent
RESTS_ON = (
    "device_words",
    "exception_line",
    "failure",
    "judge",
    "pytest_text",
    "signature",
    "telling",
    "traceback_text",
    "volatile",
)
# When this test fails: does any failure get another identity than before? Then `RULES` goes up by one. Here the new words.
KNOWN = {1: "f13899e2f5ccf8e2"}


def test_other_rules_have_another_number() -> None:
    """Of the code alone: comments and docstrings are no rules."""
    assert KNOWN[RULES] == digest()


def digest() -> str:
    """The same with every version of Python, which prints trees in its own way."""
    seen = hashlib.sha256()
    for name in RESTS_ON:
        lines = (ROOM / f"{name}.py").read_text(encoding="utf-8").splitlines()
        words = {number for first, last in docstrings("\n".join(lines)) for number in range(first, last + 1)}
        for number, line in enumerate(lines, 1):
            if number not in words and line.strip() and not line.lstrip().startswith("#"):
                seen.update(line.encode() + b"\n")
    return seen.hexdigest()[:16]


def docstrings(source: str) -> Iterator[tuple[int, int]]:
    """The first and last lines of every docstring."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            yield node.body[0].lineno, node.body[0].end_lineno or 0
