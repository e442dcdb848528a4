"""The runner that makes settings before a script sees them, with a `torch` of a few lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bisect_tool.runs.trying.configuring import SOURCE

TORCH = """import os
class dtype: pass
float64, float32 = dtype(), dtype()
default = float32
made_with = os.environ.get("BEFORE_IMPORT")
def set_default_dtype(kind):
    global default
    default = kind
"""
SCRIPT = """import os, sys
os.environ["BEFORE_IMPORT"] = "seen"
import torch
if "--compile" in sys.argv:
    import torch._dynamo.config as config
    print("static", config.assume_static_by_default)
print("float64", torch.default is torch.float64, torch.made_with, __name__, sys.argv[1:])
if "--fail" in sys.argv:
    raise RuntimeError("gradient is all zero")
sys.exit(3 if "--three" in sys.argv else 0)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "torch" / "_dynamo").mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").write_text(TORCH)
    (tmp_path / "torch" / "_dynamo" / "__init__.py").write_text("")
    config = "assume_static_by_default = True\nautomatic_dynamic_shapes = True\n"
    (tmp_path / "torch" / "_dynamo" / "config.py").write_text(config)
    (tmp_path / "repro.py").write_text(SCRIPT)
    return tmp_path


def ran(folder: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, str(SOURCE), *words], capture_output=True, text=True, check=False, cwd=folder, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def test_settings_are_made_after_the_import_and_the_script_is_left_alone(folder: Path) -> None:
    status, out, _ = ran(folder, "--dtype", "float64", "--dynamic", "yes", "repro.py", "--compile", "--three")
    assert (status, out) == (3, "static False\nfloat64 True seen __main__ ['--compile', '--three']\n")
    assert ran(folder, "repro.py")[1] == "float64 False seen __main__ []\n"


def test_what_was_not_set_says_nothing(folder: Path) -> None:
    status, _, err = ran(folder, "--dynamic", "no", "repro.py", "--fail")
    assert status == 125
    assert err.endswith("the script never imported torch._dynamo.config, so that nothing was set\n")
    assert ran(folder, "--dynamic", "no", "repro.py", "--three")[0] == 125
    assert ran(folder, "--dynamic", "no", "repro.py")[0] == 0  # a control that compiles nothing passes
    status, _, err = ran(folder, "--dtype", "float8", "repro.py")
    assert (status, err) == (125, "cannot judge: this torch has no dtype float8\n")


def test_an_exception_ends_it_as_without(folder: Path) -> None:
    status, _, err = ran(folder, "--dtype", "float64", "repro.py", "--fail")
    assert status == 1
    assert err.endswith(
        'repro.py", line 9, in <module>\n    raise RuntimeError("gradient is all zero")\nRuntimeError: gradient is all zero\n'
    )


def test_a_warm_start_runs_the_script_once_before(folder: Path) -> None:
    (folder / "repro.py").write_text("import torch\nopen('runs', 'a').write('x')\nprint(open('runs').read())\n")
    assert ran(folder, "--dtype", "float64", "--warm", "repro.py")[:2] == (0, "xx\n")


def test_a_module_is_run_as_python_does(folder: Path) -> None:
    assert ran(folder, "--dtype", "float64", "-m", "repro", "--three")[:2] == (
        3,
        "float64 True seen __main__ ['--three']\n",
    )
