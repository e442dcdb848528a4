"""Changes of the user's code: pieces of text in the place of others, each with its reason; the rest stays as it is."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """`new` in the place of the characters from `start` to `end` of the text; `why` is one phrase."""

    start: int
    end: int
    new: str
    why: str


class Offsets:
    """Where the nodes of a syntax tree stand in the text that it was made of."""

    def __init__(self, text: str) -> None:
        self._lines = re.findall(r"[^\n]*\n|[^\n]+", text)  # as Python counts lines; `splitlines` knows more ends
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """The place of a line (from 1) and a column (in bytes of UTF-8, as Python counts)."""
        before = self._lines[line - 1].encode()[:column].decode(errors="ignore") if line <= len(self._lines) else ""
        return self._starts[min(line - 1, len(self._lines))] + len(before)

    def of(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends."""
        return (
            self.at(node.lineno, node.col_offset),
            self.at(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset),
        )

    def line_after(self, node: ast.stmt) -> int:
        """The place where the line after a statement begins."""
        return self._starts[min(node.end_lineno or node.lineno, len(self._lines))]

    def after(self, node: ast.stmt, following: ast.stmt | None) -> tuple[int, str]:
        """Where lines at the top level go between two statements, and what they begin with: a new line if the two share one."""
        if following is not None and following.lineno == (node.end_lineno or node.lineno):
            return self.of(following)[0], "\n"
        return self.line_after(node), ""

    def line_of(self, node: ast.stmt) -> int:
        """The place where the line of a statement begins."""
        return self._starts[node.lineno - 1]


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits; of two that overlap the first counts."""
    done = 0
    parts: list[str] = []
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start < done:
            continue
        parts += [text[done : edit.start], edit.new]
        done = edit.end
    return "".join([*parts, text[done:]])


def shown_changes(before: str, after: str) -> list[str]:
    """The changed lines, `-` and `+` in front of them."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
    return [line for line in lines if line[:1] in "+-" and not line.startswith(("+++", "---"))]
