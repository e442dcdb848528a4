"""One function that a script calls without the compiler and with it: whose results, or gradients, must agree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bisect_tool.spec.drafting.names import backend_of, compile_names, dotted


@dataclass(frozen=True, slots=True)
class Pair:
    """After `after`, `actual` must agree with `expected` (source text), or `condition` must hold."""

    after: ast.stmt
    actual: str
    expected: str
    condition: str = ""


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
    given: str  # its arguments as they stand there
    goes_back: bool  # `.backward()` is called on what comes of it


def eager_and_compiled(tree: ast.Module) -> Iterator[Pair]:
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
            yield from (Pair(after, f"{a}.grad", f"{b}.grad") for a, b in names if a != b)
        elif call.target and other.target and call.target != other.target and call.given == other.given:
            yield Pair(after, call.target, other.target)


def _calls(tree: ast.Module) -> Iterator[_Called]:
    compiled = dict(_compiled_names(tree))
    blocks: dict[int, int] = {}
    for block, statement in statements(tree):
        number = blocks.setdefault(id(block), len(blocks))
        found = _call_of(statement, compiled)
        if found is not None:
            function, is_compiled, call, goes_back = found
            yield _Called(
                number, block.index(statement), statement, function, is_compiled, _target(statement), _argument_names(call),
                _given(call),
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
    return isinstance(statement.value, ast.Call) and last_name(statement.value.func) == "backward"


def _argument_names(call: ast.Call) -> tuple[str, ...]:
    return (
        tuple(arg.id if isinstance(arg, ast.Name) else "" for arg in call.args)
        if all(isinstance(a, ast.Name) for a in call.args)
        else ()
    )


def _given(call: ast.Call) -> str:
    """The arguments as text; of drawn ones no two are the same."""
    text = ", ".join(ast.unparse(one) for one in (*call.args, *call.keywords))
    return f"{text} at {call.lineno}" if re.search(r"\brand|\bempty", text) else text


def _backward_follows(block: Sequence[ast.stmt], statement: ast.stmt) -> bool:
    """`y = f(x)` and then `y.backward()` or `y.sum().backward()`."""
    target = _target(statement)
    following = next((after for before, after in pairwise(block) if before is statement), None)
    if not target or not isinstance(following, ast.Expr):
        return False
    text = ast.unparse(following)
    return text.startswith(f"{target}.") and text.endswith(".backward()")


def statements(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], ast.stmt]]:
    """Every statement with the block that it is in."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from ((block, one) for one in block if isinstance(one, ast.stmt))


def last_name(node: ast.expr) -> str:
    """`compile` of `torch.compile`, and of `compile`; empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
