"""Which devices the repro can run on, and the changes that let the tool choose.

Code that puts its tensors on CUDA by name can run on a CPU when the name is all that ties it to a GPU. It is tied to one when
what fails is made for GPUs alone (`GPU_ONLY_…`) or when it calls more of `torch.cuda` than a CPU can do without (`HARMLESS`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain, count

from bisect_tool.spec.drafting.edits import Edit, Offsets
from bisect_tool.spec.drafting.finding import Found, found, guessed
from bisect_tool.spec.drafting.names import dotted

CHOSEN = "DEVICE"
_CUDA = re.compile(r"^cuda(?::(?P<number>\d+))?$")
# Words that mean code for GPUs: (pattern, why). They are looked for in the failure as the report quotes it, and in the code.
GPU_ONLY_FAILURE = (
    (re.compile(r"triton", re.IGNORECASE), "the failure is in code that is made for Triton"),
    (
        re.compile(
            r"\b(?:CUDA|cudnn|cublas\w*|nccl|nvrtc|ptxas|sm_\d+|shared memory|illegal memory access|cutlass)\b",
            re.IGNORECASE,
        ),
        "the failure is one of CUDA",
    ),
)
GPU_ONLY_CODE = (
    (
        re.compile(r"^\s*(?:import triton|from triton\b|(?:from|import) liger_kernel\b)|@triton\.", re.MULTILINE),
        "it has kernels of Triton",
    ),
    (re.compile(r"\bassociative_scan\b"), "the pointwise associative_scan exists for CUDA alone"),
    (re.compile(r"reduce-overhead|\bcudagraphs?\b|CUDAGraph"), "it uses CUDA graphs"),
    (
        re.compile(r"\bflash_attn\b|SDPBackend\.(?:FLASH|CUDNN)|\b_scaled_mm\b|float8_e"),
        "it uses kernels that exist for GPUs alone",
    ),
    (re.compile(r"backend\s*=\s*['\"]nccl"), "it uses NCCL"),
)
HARMLESS = {
    "torch.cuda.synchronize", "torch.cuda.empty_cache", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all",
    "torch.cuda.is_available",
    "torch.cuda.set_device", "torch.cuda.reset_peak_memory_stats", "torch.cuda.get_device_name",
    "torch.cuda.get_device_capability",
}  # fmt: skip
_DEVICE_ARGUMENTS = {"device", "device_type", "map_location"}
_DEVICE_CALLS = {"to", "device", "set_default_device", "autocast", "GradScaler", "tensor", "Generator"}
_GUARDED = HARMLESS - {"torch.cuda.is_available", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all"}


@dataclass(frozen=True, slots=True)
class Placed:
    """`devices` as a spec has them, and the edits that let the code follow; none when it runs where it says."""

    devices: Found[tuple[str, ...]]
    edits: tuple[Edit, ...] = ()
    name: str = CHOSEN


def place(text: str, tree: ast.Module, failure: str, line: int | None) -> Placed:
    """Where the code can run; `failure` is what the report quotes of it, `line` where its code begins."""
    named = list(_cuda_words(tree))
    if not named and not re.search(r"\bcuda\b", text):
        return _without_cuda(text, line)
    if why := _only_gpu(text, failure):
        return Placed(found(("cuda",), "device-gpu-only", why, line))
    if tied := sorted({*_tied(tree), *(use.told for use in named if use.kind is Use.TIED)}):
        return Placed(found(("cuda",), "device-gpu-only", f"it uses {tied[0]}", line))
    if len(several := sorted(_numbers(named))) > 1:
        return Placed(found(("cuda",), "device-gpu-only", f"it uses several GPUs: {', '.join(several)}", line))
    both, name = ("cuda", "cpu"), _free_name(text)
    edits = tuple(_edits(text, tree, [use.node for use in named if use.kind is Use.CHOICE], name))
    if not edits:
        return Placed(found(both, "device-own-choice", "the code looks for a GPU itself", line))
    return Placed(guessed(both, "device-either", "nothing but the name `cuda` ties it to a GPU", line), edits, name)


def _numbers(named: list[_Named]) -> set[str]:
    """The GPUs that are named; a trial has one, whatever its number."""
    words = (use.node.value for use in named if isinstance(use.node, ast.Constant) and isinstance(use.node.value, str))
    return {word for word in words if (match := _CUDA.match(word)) and match["number"] is not None}


def _free_name(text: str) -> str:
    """A name for the device that the code has nowhere: a parameter, an import or a class may have it as well as a variable."""
    names = chain((CHOSEN, f"BISECT_{CHOSEN}"), (f"BISECT_{CHOSEN}_{number}" for number in count(2)))
    return next(name for name in names if not re.search(rf"\b{name}\b", text))


def _without_cuda(text: str, line: int | None) -> Placed:
    pattern, why = GPU_ONLY_CODE[0]
    if pattern.search(text):
        return Placed(found(("cuda",), "device-gpu-only", why, line))
    return Placed(found(("cpu",), "device-cpu", "nothing in the code asks for a GPU", line))


def _only_gpu(text: str, failure: str) -> str:
    """Why the failure or the code is one of GPUs; empty when it is not."""
    in_failure = (why for pattern, why in GPU_ONLY_FAILURE if pattern.search(failure))
    in_code = (why for pattern, why in GPU_ONLY_CODE if pattern.search(text))
    return next(iter([*in_failure, *in_code]), "")


class Use(Enum):
    """What a place that names `cuda` is for: choosing the device, asking which it is, or something that a CPU lacks."""

    CHOICE = auto()
    QUESTION = auto()
    TIED = auto()


@dataclass(frozen=True, slots=True)
class _Named:
    node: ast.expr
    kind: Use
    told: str = ""


def _cuda_words(tree: ast.Module) -> Iterator[_Named]:
    """The places where code names the device: `device="cuda"`, `.to("cuda")`, `torch.device("cuda:0")`, `.cuda()`."""
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _CUDA.match(node.value):
            yield _Named(node, _use(node, parents), f'"{node.value}" in a way that cannot be changed safely')
        elif isinstance(node, ast.Call) and _moves_to_cuda(node):
            yield _Named(node, Use.TIED if node.args or node.keywords else Use.CHOICE, "`.cuda(…)` with arguments")


def _moves_to_cuda(node: ast.Call) -> bool:
    """Whether it is `something.cuda(…)`."""
    is_cuda = isinstance(node.func, ast.Attribute) and node.func.attr == "cuda"
    return is_cuda and not dotted(node.func).startswith("torch.")


def _use(node: ast.Constant, parents: dict[int, ast.AST]) -> Use:
    above = parents.get(id(node))
    match above:
        case ast.keyword(arg=name):
            return Use.CHOICE if name in _DEVICE_ARGUMENTS else Use.TIED
        case ast.Call(func=function):
            return Use.CHOICE if _last_name(function) in _DEVICE_CALLS else Use.TIED
        case ast.Assign() | ast.AnnAssign() | ast.arguments():
            return Use.CHOICE
        case ast.Compare() | ast.IfExp():
            return Use.QUESTION
        case ast.JoinedStr() | ast.Expr():
            return Use.QUESTION
        case _:
            return Use.TIED


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _tied(tree: ast.Module) -> Iterator[str]:
    """What it uses of `torch.cuda` that a CPU has no counterpart for."""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and "torch.cuda.is_available()" in ast.unparse(node.test):
            yield "`assert torch.cuda.is_available()`"
        name = dotted(node) if isinstance(node, ast.Attribute) and id(node) not in inner else ""
        if name.startswith("torch.cuda.") and name not in HARMLESS:
            yield name


def _edits(text: str, tree: ast.Module, named: list[ast.expr], name: str) -> Iterator[Edit]:
    offsets = Offsets(text)
    for node in named:
        start, end = offsets.of(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            _, value_end = offsets.of(node.func.value)  # its brackets come after it
            start = text.rfind(".", value_end, offsets.of(node.func)[1])
            yield Edit(start, end, f".to({name})", "the tool chooses the device")
        else:
            yield Edit(start, end, name, "the tool chooses the device")
    for statement in ast.walk(tree):
        called = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(called, ast.Call) and dotted(called.func) in _GUARDED:
            start, _ = offsets.of(called)
            yield Edit(start, start, f'{name} == "cuda" and ', "only a GPU needs it")
            for one in called.args[:1]:
                if isinstance(one, ast.Constant) and type(one.value) is int and one.value > 0:
                    yield Edit(*offsets.of(one), "0", "a trial has one GPU")
