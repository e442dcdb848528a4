from __future__ import annotations

import pytest

from bisect_tool.builds.package_parts import is_python_part

FOLDERS = ("torch", "torchgen", "functorch")


@pytest.mark.parametrize(
    ("name", "is_part"),
    [
        ("torch/nn/functional.py", True),
        ("torch/_inductor/kernel/flex.py.jinja", True),
        ("torchgen/model.py", True),
        ("torch/_C.cpython-311-x86_64-linux-gnu.so", False),
        ("torch/lib/libgomp.so.1", False),
        ("torch/lib/notes.py", False),
        ("torch/version.py", False),
        ("torch/_C/__init__.pyi", False),
        ("torch/testing/_internal/generated/annotated_fn_args.py", False),
        ("torchgen/packaged/ATen/native/native_functions.yaml", False),
        ("torch-2.15.0.dist-info/RECORD", False),
        ("numpy/__init__.py", False),
        ("torch/../numpy/__init__.py", False),
        ("/torch/x.py", False),
        ("torch", False),
    ],
)
def test_what_is_laid_over_other_binaries(name: str, *, is_part: bool) -> None:
    assert is_python_part(name, FOLDERS) == is_part
