from __future__ import annotations

import pytest

from bisect_tool.history.commit import ChangedFile
from bisect_tool.history.parts import Part, part_of, parts_of


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("torch/_inductor/lowering.py", Part.PYTHON),
        ("torch/_inductor/codegen/aoti_runtime/interface.cpp", Part.PYTHON),
        ("torch/_inductor/kernel/templates/triton_mm.py.jinja", Part.PYTHON),
        ("torch/testing/_internal/common_utils.py", Part.PYTHON),
        ("torch/utils/benchmark/utils/timer.py", Part.PYTHON),
        ("torchgen/model.py", Part.PYTHON),
        ("functorch/__init__.py", Part.PYTHON),
        ("keras/src/backend/tensorflow/trainer.py", Part.PYTHON),
        ("src/liger_kernel/ops/rms_norm.py", Part.PYTHON),
        ("torch/csrc/autograd/engine.cpp", Part.NATIVE),
        ("torch/csrc/autograd/python_variable.py", Part.NATIVE),
        ("aten/src/ATen/native/native_functions.yaml", Part.NATIVE),
        ("tools/autograd/derivatives.yaml", Part.NATIVE),
        ("c10/core/TensorImpl.h", Part.NATIVE),
        ("CMakeLists.txt", Part.NATIVE),
        ("cmake/Dependencies.cmake", Part.NATIVE),
        ("sklearn/tree/_splitter.pyx", Part.NATIVE),
        ("lib/Dialect/TritonGPU/IR/Ops.td", Part.NATIVE),
        (".ci/docker/ci_commit_pins/triton.txt", Part.TRITON),
        (".ci/docker/triton_version.txt", Part.TRITON),
        (".ci/docker/common/install_cuda.sh", Part.PIN),
        (".github/scripts/generate_binary_build_matrix.py", Part.PIN),
        ("setup.py", Part.PIN),
        ("requirements-tensorflow-cuda.txt", Part.PIN),
        ("version.txt", Part.PIN),
        (".gitmodules", Part.PIN),
        ("test/inductor/test_cpu_repro.py", Part.INERT),
        ("test/cpp/api/autograd.cpp", Part.INERT),
        ("keras/src/ops/nn_test.py", Part.INERT),
        ("sympy/core/tests/test_expr.py", Part.INERT),
        ("docs/source/notes/cuda.rst", Part.INERT),
        ("README.md", Part.INERT),
        (".github/workflows/pull.yml", Part.INERT),
        (".ci/docker/ci_commit_pins/vllm.txt", Part.PIN),
        ("benchmarks/dynamo/common.py", Part.INERT),
    ],
)
def test_the_part_of_a_file(path: str, part: Part) -> None:
    assert part_of(ChangedFile(path)) is part


def test_a_submodule_is_binaries() -> None:
    assert part_of(ChangedFile("third_party/ideep", is_submodule=True)) is Part.NATIVE


def test_tests_beside_code_do_not_count() -> None:
    files = [
        ChangedFile("torch/nn/functional.py"),
        ChangedFile("test/test_nn.py"),
        ChangedFile("aten/src/ATen/Context.cpp"),
    ]
    assert parts_of(files) == {Part.PYTHON, Part.NATIVE}
    assert parts_of(files[1:2]) == {Part.INERT}
    assert parts_of([]) == set()
