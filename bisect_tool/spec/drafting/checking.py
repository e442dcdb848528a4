"""Turning what a script only prints into its exit status, where a rule is certain.

For a report of wrong results: the differences that the script itself computes and prints, `(a - b).abs().max()`; the
comparisons that it prints, `torch.allclose(a, b)`; or the same function called once compiled and once not, whose results (or,
after `backward()`, the gradients of whose arguments) must agree. For a report of an exception: a handler that catches
everything and only prints it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bisect_tool.spec.drafting.edits import Edit, Offsets
from bisect_tool.spec.drafting.pairs import Pair, eager_and_compiled, last_name, statements

MARK = "# added by bisect init"
_DIFFERENCE = re.compile(r"diff|err|delta|mismatch|gap|deviation", re.IGNORECASE)
# Assertions on where a script runs or on its input, not on its result.
_ASKS_FIRST = re.compile(
    r"is_available|device_count|get_device_capability|__version__|isinstance|\.is_cuda\b|\.is_contiguous"
)
# A value against itself at an earlier moment: that it moved may be right.
_EARLIER = re.compile(r"(?:^|[_.])(?:before|old|prev\w*|snapshot)(?:[_.\d]|$)", re.IGNORECASE)
_COMPARES = {"allclose", "equal", "array_equal", "isclose", "same"}
_SPAN = {"max", "amax", "sum", "mean", "norm", "item", "abs", "all", "any"}
_CATCHES_ALL = {"Exception", "BaseException", "RuntimeError"}
_PRINTS = {
    "print",
    "print_exc",
    "print_exception",
    "exception",
    "error",
    "info",
    "warning",
    "warn",
    "write",
    "format_exc",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """The lines that were added, by rule, and whether the script judges now; `rule` is empty when nothing was needed."""

    edits: tuple[Edit, ...]
    rule: str
    why: str
    words: str = ""  # of the message of an added check


def judges(tree: ast.Module) -> bool:
    """Whether a script has an assertion or leaves with a status of its own."""
    last = {
        "exit",
        "_exit",
        "assert_close",
        "assert_allclose",
        "assertEqual",
        "assertTrue",
        "assert_array_equal",
        "assert_equal",
        "gradcheck",
        "opcheck",
    }
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    passed_on = {id(part) for handler in handlers for part in ast.walk(handler) if isinstance(part, ast.Raise)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and not _ASKS_FIRST.search(ast.unparse(node.test)):
            return True
        if isinstance(node, ast.Raise) and id(node) not in passed_on and "NotImplemented" not in ast.unparse(node):
            return True
        if isinstance(node, ast.Call) and last_name(node.func) in last:
            return True
    return False


def check_values(text: str, tree: ast.Module) -> Checked | None:
    """The checks for a report of wrong results; None when no rule is certain."""
    if not _imports_torch(tree):
        return None
    offsets = Offsets(text)
    for rule, why, pairs in (
        ("check-difference", "the difference that the script prints must be small", list(_printed_differences(tree))),
        ("check-comparison", "the comparison that the script prints must hold", list(_printed_comparisons(tree))),
        ("check-pair", "what is compiled must agree with what is not", list(eager_and_compiled(tree))),
    ):
        if edits := tuple(edit for pair in pairs if (edit := _added(text, offsets, pair))):
            return Checked(edits, rule, why, "wrong values: ")
    return None


def _imports_torch(tree: ast.Module) -> bool:
    """Whether the name `torch` is bound at the top: the checks are its own."""
    imports = (node for node in tree.body if isinstance(node, ast.Import))
    return any((alias.asname or alias.name).split(".")[0] == "torch" for node in imports for alias in node.names)


def raise_again(text: str, tree: ast.Module) -> Checked | None:
    """`raise` at the end of each handler that catches everything and only prints it; None when there is none."""
    offsets = Offsets(text)
    edits = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and _catches_all(node) and _only_prints(node.body):
            last = node.body[-1]
            indent = _indent_of(text, offsets, last)
            if indent is not None:
                edits.append(
                    _line_after(text, offsets, last, f"{indent}raise  {MARK}\n", "the exception must end the script")
                )
    return Checked(tuple(edits), "raise-again", "the script catches the exception and goes on") if edits else None


def raise_warning(text: str, tree: ast.Module, pattern: str) -> Checked:
    """The filter that makes an exception of the warnings with `pattern` in their text, and of no others.

    It comes before every import, because packages also warn when they are imported.
    """
    offsets = Offsets(text)
    at, lead = 0, ""
    for node, following in pairwise([*tree.body, None]):
        is_doc = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if node is None or (not is_doc and not (isinstance(node, ast.ImportFrom) and node.module == "__future__")):
            break
        at, lead = offsets.after(node, following)
    line = (
        f'{lead}import warnings  {MARK}\n\nwarnings.filterwarnings("error", message={f"(?s).*{pattern}"!r})  {MARK}\n'
    )
    edit = Edit(at, at, line, "the warning must end the script")
    return Checked((edit,), "raise-warning", "the warning that the report quotes must end the script")


def _catches_all(node: ast.ExceptHandler) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type] if node.type else []
    names = {last_name(kind) for kind in kinds}
    return (
        not kinds
        or bool(names & _CATCHES_ALL)
        or any(name.endswith(("BackendCompilerFailed", "InductorError")) for name in names)
    )


def _only_prints(body: Sequence[ast.stmt]) -> bool:
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Call(func=function)) if last_name(function) in _PRINTS:
                continue
            case ast.Pass() | ast.Import() | ast.Continue():
                continue
            case ast.Assign(value=value) if not any(isinstance(part, ast.Call) for part in ast.walk(value)):
                continue
            case _:
                return False
    return not isinstance(body[-1], (ast.Continue, ast.Pass))


def _added(text: str, offsets: Offsets, pair: Pair) -> Edit | None:
    """The check of a pair; None where no line can be put behind its statement."""
    indent = _indent_of(text, offsets, pair.after)
    if indent is None:
        return None
    if pair.condition:
        shown = " ".join(pair.condition.split())[:80].replace("\\", "").replace('"', "'")
        line = f'{indent}assert {pair.condition}, "wrong values: {shown} does not hold"  {MARK}\n'
    else:
        said = f"wrong values: {pair.actual} differs from {pair.expected}".replace("\\", "").replace('"', "'")
        line = (
            f"{indent}torch.testing.assert_close({pair.actual}, {pair.expected}, equal_nan=True, "
            f'msg=lambda told: "{said}\\n" + told)  {MARK}\n'
        )
    return _line_after(text, offsets, pair.after, line, "wrong values must end the script with an error")


def _line_after(text: str, offsets: Offsets, statement: ast.stmt, line: str, why: str) -> Edit:
    place = offsets.line_after(statement)
    lead = "" if place == 0 or text[place - 1 : place] == "\n" else "\n"
    return Edit(place, place, lead + line, why)


def _indent_of(text: str, offsets: Offsets, statement: ast.stmt) -> str | None:
    """The indentation of a statement that has its lines for itself; None for one that shares them with another."""
    first = offsets.line_of(statement)
    start, end = offsets.of(statement)
    before, behind = text[first:start], text[end : offsets.line_after(statement)].strip(" \t\f\n\r;")
    goes_on = text[:first].endswith("\\\n")
    return before if not before.strip() and not goes_on and behind[:1] in ("", "#") else None


def _printing(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Statements that print, or that keep what is printed later (`diff = (a - b).abs().max()`), with what they compute."""
    for _, statement in statements(tree):
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="print")) as call):
                yield from ((statement, part) for part in call.args)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _DIFFERENCE.search(name):
                yield statement, value


def _printed_differences(tree: ast.Module) -> Iterator[Pair]:
    """`(a - b).abs().max()` and its like, of two values that have names."""
    seen: set[tuple[str, str]] = set()
    for statement, value in _printing(tree):
        for node in ast.walk(value):
            inner = _spanned(node)
            if (
                isinstance(inner, ast.BinOp)
                and isinstance(inner.op, ast.Sub)
                and _is_value(inner.left)
                and _is_value(inner.right)
            ):
                one, other = ast.unparse(inner.left), ast.unparse(inner.right)
                if (
                    (one, other) not in seen
                    and one != other
                    and not _EARLIER.search(one)
                    and not _EARLIER.search(other)
                ):
                    seen.add((one, other))
                    actual, expected = (other, one) if _is_reference(one) or not _is_reference(other) else (one, other)
                    yield Pair(statement, actual, expected)


def _spanned(node: ast.AST) -> ast.expr | None:
    """What stands inside `abs`: of `x.abs()`, `torch.abs(x)`, `abs(x)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="abs"), args=[]):
            return inner
        case ast.Call(func=function, args=[inner]) if last_name(function) in {"abs", "norm"}:
            return inner
        case ast.Call(func=ast.Attribute(value=inner, attr="norm"), args=[]):
            return inner
    return None


def _is_value(node: ast.expr) -> bool:
    """A name, an attribute of one (`x.grad`), or such a thing moved or converted; nothing that is computed anew."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=inner, attr=_):
            return _is_value(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=("cpu" | "double" | "float" | "detach" | "to")), args=_):
            return _is_value(inner)
        case ast.Subscript(value=inner, slice=ast.Constant()):
            return _is_value(inner)
        case _:
            return False


def _is_reference(text: str) -> bool:
    words = ("eager", "ref", "expect", "gold", "cpu", "want", "correct", "true", "baseline", "exact")
    return any(word in text.lower() for word in words)


def _printed_comparisons(tree: ast.Module) -> Iterator[Pair]:
    """`torch.allclose(a, b)` in what is printed."""
    for statement, value in _printing(tree):
        if isinstance(statement, ast.Assign):
            continue
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and last_name(node.func) in _COMPARES - {"isclose"} and len(node.args) == 2:
                if any(_EARLIER.search(ast.unparse(arg)) for arg in node.args):
                    continue
                yield Pair(statement, "", "", ast.unparse(node))
