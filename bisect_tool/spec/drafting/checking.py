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
from bisect_tool.spec.drafting.names import backend_of, compile_calls, compile_names, dotted

MARK = "# added by bisect init"
_DIFFERENCE = re.compile(r"diff|err|delta|mismatch|gap|deviation", re.IGNORECASE)
_COMPARES = {"allclose", "equal", "array_equal", "isclose"}
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
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assert, ast.Raise)):
            return True
        if isinstance(node, ast.Call) and _last(node.func) in last:
            return True
    return False


def check_values(text: str, tree: ast.Module) -> Checked | None:
    """The checks for a report of wrong results; None when no rule is certain."""
    if not _imports_torch(tree):
        return None
    for rule, why, pairs in (
        ("check-difference", "the difference that the script prints must be small", list(_printed_differences(tree))),
        ("check-comparison", "the comparison that the script prints must hold", list(_printed_comparisons(tree))),
        ("check-pair", "what is compiled must agree with what is not", list(_eager_and_compiled(tree))),
    ):
        if pairs:
            offsets = Offsets(text)
            edits = tuple(_added(text, offsets, pair) for pair in pairs)
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


def _catches_all(node: ast.ExceptHandler) -> bool:
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type] if node.type else []
    names = {_last(kind) for kind in kinds}
    return (
        not kinds
        or bool(names & _CATCHES_ALL)
        or any(name.endswith(("BackendCompilerFailed", "InductorError")) for name in names)
    )


def _only_prints(body: Sequence[ast.stmt]) -> bool:
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Call(func=function)) if _last(function) in _PRINTS:
                continue
            case ast.Pass() | ast.Import() | ast.Continue():
                continue
            case ast.Assign(value=value) if not any(isinstance(part, ast.Call) for part in ast.walk(value)):
                continue
            case _:
                return False
    return not isinstance(body[-1], (ast.Continue, ast.Pass))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


@dataclass(frozen=True, slots=True)
class _Pair:
    """After `after`, `actual` must agree with `expected` (source text), or `condition` must hold."""

    after: ast.stmt
    actual: str
    expected: str
    condition: str = ""


def _added(text: str, offsets: Offsets, pair: _Pair) -> Edit:
    indent = _indent_of(text, offsets, pair.after) or ""
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
    """The indentation of a statement that begins its line; None for one after a `;` or a `:`."""
    start = offsets.line_of(statement)
    before = text[start : offsets.of(statement)[0]]
    return before if not before.strip() else None


def _statements(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], ast.stmt]]:
    """Every statement with the block that it is in."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from ((block, one) for one in block if isinstance(one, ast.stmt))


def _printing(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Statements that print, or that keep what is printed later (`diff = (a - b).abs().max()`), with what they compute."""
    for _, statement in _statements(tree):
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="print")) as call):
                yield from ((statement, part) for part in call.args)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _DIFFERENCE.search(name):
                yield statement, value


def _printed_differences(tree: ast.Module) -> Iterator[_Pair]:
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
                if (one, other) not in seen and one != other:
                    seen.add((one, other))
                    actual, expected = (other, one) if _is_reference(one) or not _is_reference(other) else (one, other)
                    yield _Pair(statement, actual, expected)


def _spanned(node: ast.AST) -> ast.expr | None:
    """What stands inside `abs`: of `x.abs()`, `torch.abs(x)`, `abs(x)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="abs"), args=[]):
            return inner
        case ast.Call(func=function, args=[inner]) if _last(function) in {"abs", "norm"}:
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


def _printed_comparisons(tree: ast.Module) -> Iterator[_Pair]:
    """`torch.allclose(a, b)` in what is printed."""
    for statement, value in _printing(tree):
        if isinstance(statement, ast.Assign):
            continue
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and _last(node.func) in _COMPARES - {"isclose"} and len(node.args) == 2:
                yield _Pair(statement, "", "", ast.unparse(node))


@dataclass(frozen=True, slots=True)
class _Called:
    """A call of `function`: `target` is the name that its result has, `arguments` the names among its arguments."""

    block: int
    place: int
    statement: ast.stmt
    function: str
    is_compiled: bool
    target: str
    arguments: tuple[str, ...]
    goes_back: bool  # `.backward()` is called on what comes of it


def _eager_and_compiled(tree: ast.Module) -> Iterator[_Pair]:
    """The same function called without the compiler and with it, in one block of statements."""
    calls = list(_calls(tree))
    plain = {(one.block, one.function): one for one in calls if not one.is_compiled}
    for call in calls:
        other = plain.get((call.block, call.function))
        if not call.is_compiled or other is None:
            continue
        after = max((call, other), key=lambda one: one.place).statement
        if call.goes_back and other.goes_back:
            names = zip(call.arguments, other.arguments, strict=False)
            yield from (_Pair(after, f"{a}.grad", f"{b}.grad") for a, b in names if a != b)
        elif call.target and other.target and call.target != other.target:
            yield _Pair(after, call.target, other.target)


def _calls(tree: ast.Module) -> Iterator[_Called]:
    compiled = dict(_compiled_names(tree))
    blocks: dict[int, int] = {}
    for block, statement in _statements(tree):
        number = blocks.setdefault(id(block), len(blocks))
        found = _call_of(statement, compiled)
        if found is not None:
            function, is_compiled, call, goes_back = found
            yield _Called(
                number, block.index(statement), statement, function, is_compiled, _target(statement), _argument_names(call),
                goes_back or _backward_follows(block, statement),
            )  # fmt: skip


def _compiled_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(name, function) of `name = torch.compile(function)` with Inductor."""
    names = compile_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=function, args=[ast.Name(id=inner)]) as call
            ):
                if dotted(function) in names and backend_of(call) == "inductor":
                    yield name, inner


def _call_of(statement: ast.stmt, compiled: dict[str, str]) -> tuple[str, bool, ast.Call, bool] | None:
    """(function, whether compiled, the call, whether `backward` is called on it) of what a statement runs."""
    match statement:
        case ast.Assign(value=value) | ast.Expr(value=value):
            pass
        case _:
            return None
    goes_back = False
    while (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in {"backward", "sum", "mean"}
    ):
        goes_back = goes_back or value.func.attr == "backward"
        value = value.func.value
    if not isinstance(value, ast.Call):
        return None
    match value.func:
        case ast.Name(id=name):
            return (compiled.get(name, name), name in compiled, value, goes_back)
        case ast.Call(func=function, args=[ast.Name(id=inner)]) as made if dotted(function) == "torch.compile":
            return (inner, True, value, goes_back) if backend_of(made) == "inductor" else None
    return None


def _target(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) if not _goes_back_itself(statement):
            return name
    return ""


def _goes_back_itself(statement: ast.Assign) -> bool:
    return isinstance(statement.value, ast.Call) and _last(statement.value.func) == "backward"


def _argument_names(call: ast.Call) -> tuple[str, ...]:
    return (
        tuple(arg.id if isinstance(arg, ast.Name) else "" for arg in call.args)
        if all(isinstance(a, ast.Name) for a in call.args)
        else ()
    )


def _backward_follows(block: Sequence[ast.stmt], statement: ast.stmt) -> bool:
    """`y = f(x)` and then `y.backward()` or `y.sum().backward()`."""
    target = _target(statement)
    following = next((after for before, after in pairwise(block) if before is statement), None)
    if not target or not isinstance(following, ast.Expr):
        return False
    text = ast.unparse(following)
    return text.startswith(f"{target}.") and text.endswith(".backward()")


__all__ = ["MARK", "Checked", "check_values", "compile_calls", "judges", "raise_again"]
