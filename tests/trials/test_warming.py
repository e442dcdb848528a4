from __future__ import annotations

import pytest

from bisect_tool.trials.warming import TooCold, Warmth, shared_variables, warmth_of


def modules_of(source: str, **others: str) -> tuple[str, ...]:
    files = (("repro.py", source.encode()), *((f"{name}.py", text.encode()) for name, text in others.items()))
    return warmth_of(files, ("python", "repro.py", "--flag")).modules


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("import torch\n", ("torch",)),
        ('"""What it does."""\n\nfrom __future__ import annotations\nimport argparse, os\nimport torch\n', ("torch",)),
        ("import numpy as np\nimport torch.nn.functional as F\nimport numpy\n", ("numpy", "torch.nn.functional")),
        ("from torch._inductor import config\nimport triton\n", ("torch._inductor", "triton")),
        ("import torch\nimport os\nos.environ['TORCH_LOGS'] = '+all'\nimport triton\n", ("torch",)),
        ("import torch\nimport beside\nimport triton\n", ("torch",)),
        ("import torch\nfrom . import beside\nimport triton\n", ("torch",)),
    ],
)
def test_what_is_imported_ahead(source: str, modules: tuple[str, ...]) -> None:
    assert modules_of(source, beside="x = 1") == modules


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "import os\nos.environ['TORCH_LOGS'] = '+all'\nimport torch\n",
            "begins with no import of an installed package",
        ),
        ("import warnings\nwarnings.simplefilter('error')\nimport torch\n", "begins with no import"),
        ("try:\n    import torch\nexcept ImportError:\n    raise SystemExit(125)\n", "begins with no import"),
        ("import beside\nimport torch\n", "begins with no import"),
        ("def main():\n    import torch\nmain()\n", "begins with no import"),
        ("import torch\nprint(\n", "cannot be read as Python here"),
        ("import torch\nimport gc\ngc.collect()\n", "looks at Python's garbage collection"),
    ],
)
def test_what_starts_fresh(source: str, reason: str) -> None:
    with pytest.raises(TooCold, match=reason):
        modules_of(source, beside="x = 1")


@pytest.mark.parametrize(
    "words",
    [("pytest", "repro.py"), ("python", "-m", "pytest", "repro.py"), ("python", "-X", "dev", "repro.py"), ("python",), (),
     ("python", "other.py"), ("./repro.py",), ("bash", "-c", "python repro.py")],
)  # fmt: skip
def test_commands_that_start_fresh(words: tuple[str, ...]) -> None:
    with pytest.raises(TooCold, match="the command is not `python` and a script of the repro"):
        warmth_of((("repro.py", b"import torch\n"),), words)


def test_names_beside_the_script() -> None:
    files = (
        ("sub/repro.py", b"import torch\n"),
        ("sub/sympy/__init__.py", b""),
        ("sub/data.txt", b""),
        ("top.py", b""),
    )
    found = warmth_of(files, ("python", "./sub/repro.py"))
    assert found == Warmth("sub/repro.py", ("torch",), frozenset({"repro", "sympy", "data"}))


def test_a_server_is_shared_whatever_the_places_of_a_trial_are() -> None:
    one = {"TMPDIR": "/a", "HOME": "/a", "TRITON_CACHE_DIR": "/a", "BISECT_CHECKS": "/a", "OMP_NUM_THREADS": "1"}
    assert shared_variables(one) == {"OMP_NUM_THREADS": "1"}
