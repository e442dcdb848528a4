"""What a piece of Python needs and gives: the names that nothing in it defines, and the packages that it imports."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator

# What people leave out at the top of a script, because everybody knows it.
USUAL_IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "pd": "import pandas as pd",
    "triton": "import triton",
    "tl": "import triton.language as tl",
    "os": "import os",
    "sys": "import sys",
    "math": "import math",
    "time": "import time",
    "gc": "import gc",
    "random": "import random",
    "copy": "import copy",
    "functools": "import functools",
    "itertools": "import itertools",
    "warnings": "import warnings",
    "contextlib": "import contextlib",
    "sympy": "import sympy",
    "click": "import click",
    "nx": "import networkx as nx",
}
# What people take for granted when they write about a package whose names they import all at once.
FROM_SYMPY = frozenset({
    "Abs", "And", "Derivative", "E", "Eq", "Expr", "Float", "Function", "Heaviside", "I", "Integer", "Integral", "Limit",
    "Matrix", "Max", "Min", "Mod", "Mul", "Ne", "Not", "Or", "Piecewise", "Poly", "Pow", "Product", "Rational", "Rel", "S",
    "Sum", "Symbol", "Wild", "acos", "apart", "arg", "asin", "atan", "atan2", "binomial", "cancel", "ceiling", "collect",
    "conjugate", "cos", "cosh", "cot", "diff", "dsolve", "erf", "exp", "expand", "factor", "factorial", "floor", "gamma",
    "gcd", "groebner", "im", "init_printing", "integrate", "lambdify", "latex", "lcm", "limit", "linsolve", "ln", "log",
    "nan", "nonlinsolve", "nsimplify", "nsolve", "oo", "pi", "pprint", "product", "re", "residue", "root", "roots", "series",
    "sign", "simplify", "sin", "sinh", "solve", "solveset", "sqrt", "srepr", "summation", "symbols", "sympify", "tan", "tanh",
    "together", "trigsimp", "zoo",
})  # fmt: skip
_LETTERS = frozenset("abcdfghjklmnpqrstuvwxyz") | {"alpha", "beta", "theta", "phi", "sigma", "omega", "mu", "tau"}
_DEVICE_NAMES = ("device", "DEVICE")
_ALWAYS = {*dir(builtins), "__name__", "__file__", "__doc__", "__builtins__", "reveal_type", "display"}


def usual_names(package: str | None, text: str) -> dict[str, str]:
    """Name → the line that defines it, for all that people leave out in a report about `package` with this text."""
    names = dict(USUAL_IMPORTS)
    if package == "sympy":
        names |= {name: f"from sympy import {name}" for name in sorted(FROM_SYMPY)}
        names |= {name: f"from sympy.abc import {name}" for name in sorted(_LETTERS)}
    device = "cuda" if re.search(r"\bcuda\b", text, re.IGNORECASE) else "cpu"
    return names | {name: f'{name} = "{device}"' for name in _DEVICE_NAMES}


def undefined(tree: ast.Module) -> frozenset[str]:
    """The names that are read somewhere and defined nowhere; with `from … import *` nothing is certain, so none."""
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return frozenset()
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return frozenset(read - set(_defined(tree)) - _ALWAYS)


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.arg(arg=name):
                yield name
            case ast.Import() | ast.ImportFrom():
                yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names


def imported(tree: ast.Module) -> tuple[str, ...]:
    """The top-level modules that it imports which Python does not bring along, in order. Guarded ones (`try`) count."""
    tops: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            tops.update(dict.fromkeys(alias.name.split(".")[0] for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            tops[node.module.split(".")[0]] = None
    return tuple(top for top in tops if top.isascii() and top not in sys.stdlib_module_names)


def dotted(node: ast.expr) -> str:
    """`torch.compile` of the expression that says so; empty for any other."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def compile_names(tree: ast.Module) -> frozenset[str]:
    """How `torch.compile` is called in this script: `torch.compile`, and what `from torch import compile` binds."""
    found = {"torch.compile"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {f"{alias.asname}.compile" for alias in node.names if alias.name == "torch" and alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module == "torch":
            found |= {alias.asname or alias.name for alias in node.names if alias.name == "compile"}
    return frozenset(found)


def compile_calls(tree: ast.Module) -> tuple[ast.Call, ...]:
    """The calls of `torch.compile`, also as a decorator with arguments, in the order of the text."""
    names = compile_names(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and dotted(node.func) in names]
    return tuple(sorted(calls, key=lambda call: (call.lineno, call.col_offset)))


def compiles(tree: ast.Module) -> bool:
    """Whether it calls `torch.compile` or decorates with it."""
    names = compile_names(tree)
    if compile_calls(tree):
        return True
    decorated = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    return any(dotted(one) in names for node in decorated for one in node.decorator_list)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of an argument that is given by name."""
    return next((one.value for one in call.keywords if one.arg == name), None)


def backend_of(call: ast.Call) -> str:
    """The backend that a call of `torch.compile` asks for: `inductor` when it says nothing, empty when it is computed."""
    value = keyword(call, "backend")
    if value is None:
        return "inductor"
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
