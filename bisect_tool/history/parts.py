"""Which part of a package a file belongs to: its Python, its binaries, what it is built with, or nothing that ships.

The rule for torch is that of its own CI, which reuses binaries when only Python changed, narrowed to what is in a wheel
(https://github.com/pytorch/pytorch/blob/main/.github/actions/reuse-old-whl/reuse_old_whl.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from bisect_tool.history.commit import ChangedFile


class Part(StrEnum):
    """What a change of a file may change in the package as it is installed."""

    PYTHON = "Python"
    NATIVE = "binaries"
    TRITON = "triton pin"
    PIN = "pin of a dependency"
    INERT = "nothing that is installed"


_TRITON = re.compile(r"(^|/)(triton\.txt|triton_version\.txt)$")
_INERT = re.compile(
    r"(^|/)(tests?|docs?|benchmarks?|examples?|tutorials?|guides|integration_tests|scripts|\.github|\.ci|\.circleci"
    r"|\.vscode|\.devcontainer|dev)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$|\.(md|rst|ipynb|txt|png|svg|gif|lock)$"
    r"|(^|/)(\.[^/]*|LICENSE[^/]*|CODEOWNERS|CITATION[^/]*|Makefile|mkdocs\.ya?ml)$",
    re.IGNORECASE,
)
_SHIPPED = re.compile(r"^torch/utils/benchmark/")
_PINS = re.compile(
    r"(^|/)(setup\.py|setup\.cfg|pyproject\.toml|requirements[^/]*\.txt|version\.txt|pin[^/]*\.txt|\.gitmodules)$"
    r"|^\.ci/docker/(ci_commit_pins/(?!triton\.txt)|common/install_(cuda|cudnn|nccl|cusparselt|mkl)|triton_version)"
    r"|^\.ci/(wheel|manywheel|pytorch/build)|generate_binary_build_matrix\.py$"
)
_NATIVE = re.compile(
    r"\.(c|cc|cpp|cxx|cu|cuh|h|hh|hpp|inl|inc|mm|metal|m|s|asm|cmake|bzl|pyx|pxd|td|mlir|rs|glsl|proto|in|f90)$"
    r"|(^|/)(CMakeLists\.txt|BUILD|BUILD\.bazel|WORKSPACE|meson\.build|Cargo\.(toml|lock))$"
    r"|^(aten|c10|caffe2|cmake|third_party|torch/csrc|tools/(autograd|setup_helpers|jit|build_libtorch))/"
)
# C++ and other text that Inductor reads at run time, as it reads its Python.
_READ_AT_RUN_TIME = re.compile(r"^torch/_inductor/.*\.(cpp|h|jinja|ld)$")


def part_of(file: ChangedFile) -> Part:
    """The part that a file belongs to, by its path."""
    path = file.path
    if file.is_submodule:
        return Part.NATIVE
    if _TRITON.search(path):
        return Part.TRITON
    if _PINS.search(path):
        return Part.PIN
    if _READ_AT_RUN_TIME.match(path) or _SHIPPED.match(path):
        return Part.PYTHON
    if _NATIVE.search(path):
        return Part.INERT if _INERT.search(path) and not path.endswith("CMakeLists.txt") else Part.NATIVE
    return Part.INERT if _INERT.search(path) else Part.PYTHON


def parts_of(files: Iterable[ChangedFile]) -> frozenset[Part]:
    """The parts that a commit touches; `INERT` only when it touches nothing else."""
    found = frozenset(part_of(file) for file in files)
    return found - {Part.INERT} or found
