"""`repro.py` of a draft, run with a `torch` that only writes down what is asked of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bisect_tool.spec.drafting.runner import RUNNER

TORCH = """
def compile(model=None, **options):
    if model is None:
        return lambda function: compile(function, **options)
    print("compiled", sorted(options.items()))
    return lambda *given: ("compiled", model(*given))
"""
INSIDE = "import torch\n\n\ndef own(function):\n    return torch.compile(function, backend='inductor')\n"
REPORT = """import sys
import torch

def f(x):
    return x + 8193

@torch.compile(fullgraph=True, mode="max-autotune")
def g(x):
    return -x

print(__name__, sys.argv[1:], f(1), torch.compile(f)(1), torch.compile(f, backend="cudagraphs")(1), g(1))
"""


def ran(folder: Path, *words: str, report: str = REPORT) -> subprocess.CompletedProcess[str]:
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text(TORCH)
    (folder / "torch" / "inside.py").write_text(INSIDE)
    (folder / "repro.py").write_text(RUNNER)
    (folder / "report.py").write_text(report)
    (folder / "work").mkdir()
    return subprocess.run(
        [sys.executable, "../repro.py", *words],
        cwd=folder / "work",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_without_options_the_report_runs_as_it_is(tmp_path: Path) -> None:
    assert ran(tmp_path).stdout.splitlines() == [
        "compiled [('fullgraph', True), ('mode', 'max-autotune')]",
        "compiled []",
        "compiled [('backend', 'cudagraphs')]",
        "__main__ [] 8194 ('compiled', 8194) ('compiled', 8194) ('compiled', -1)",
    ]


def test_eager_compiles_nothing(tmp_path: Path) -> None:
    assert ran(tmp_path, "--backend", "eager").stdout == "__main__ [] 8194 8194 8194 -1\n"


def test_another_backend_takes_the_place_of_inductor_alone(tmp_path: Path) -> None:
    assert ran(tmp_path, "--backend", "aot_eager").stdout.splitlines()[:3] == [
        "compiled [('backend', 'aot_eager'), ('fullgraph', True)]",
        "compiled [('backend', 'aot_eager')]",
        "compiled [('backend', 'cudagraphs')]",
    ]


def test_what_torch_compiles_itself_is_left_alone(tmp_path: Path) -> None:
    report = "import torch.inside\nprint(torch.inside.own(abs)(-1))\n"
    assert ran(tmp_path, "--backend", "eager", report=report).stdout.splitlines() == [
        "compiled [('backend', 'inductor')]",
        "('compiled', 1)",
    ]


def test_a_text_is_replaced(tmp_path: Path) -> None:
    done = ran(tmp_path, "--replace", "8193", "8192", "--replace", "(1), g(1)", "(2), g(2)", "--own", "x")
    assert (
        done.stdout.splitlines()[-1]
        == "__main__ ['--own', 'x'] 8193 ('compiled', 8193) ('compiled', 8194) ('compiled', -2)"
    )


@pytest.mark.parametrize(("old", "count"), [("nothing", 0), ("(1)", 4)])
def test_a_text_that_is_not_there_once_is_an_error(tmp_path: Path, old: str, count: int) -> None:
    done = ran(tmp_path, "--replace", old, "x")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"repro.py: {old!r} is {count} times in report.py, it must be there once\n"


def test_errors_and_statuses_pass_through(tmp_path: Path) -> None:
    assert ran(tmp_path, report="import sys\nsys.exit(125)\n").returncode == 125
