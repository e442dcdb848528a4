"""The hook that switches `torch.compile` from outside, in processes with a package that stands for torch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bisect_tool.environments import environment
from bisect_tool.environments.compile_switch import switched

HOOK = Path(environment.__file__).with_name("compile_switch.py")
TORCH = """
def compile(model=None, **asked):
    print(sorted(asked.items()))
    return model
"""
BISECTOR = """
class CompilerBisector:
    get_backend = staticmethod(lambda: "inductor")
    get_subsystem = staticmethod(lambda: "post_grad_passes")

    @classmethod
    def disable_subsystem(cls, backend, subsystem, debug_info=None):
        return subsystem == "left out"
"""
PATTERNS = """
class GraphPatternEntry:
    def __init__(self, handler):
        self.handler = handler

    def apply(self, match, graph, node):
        return self.handler(match)
"""
USE = """
from torch._inductor.compiler_bisector import CompilerBisector as B
from torch._inductor.pattern_matcher import GraphPatternEntry

def fold_cat(match):
    return match + 1

assert B.disable_subsystem("inductor", "lowerings") is False
assert B.disable_subsystem("inductor", "post_grad_passes", lambda: "pass_pattern_1") is False
assert GraphPatternEntry(fold_cat).apply(1, None, None) == 2
assert B.disable_subsystem("inductor", "left out") is True
"""


def run(tmp_path: Path, script: str, **variables: str) -> str:
    """What a script prints in a process that loads the hook; `torch` lies beside it."""
    hook, site = tmp_path / "hook", tmp_path / "site"
    (site / "torch" / "_inductor").mkdir(parents=True)
    hook.mkdir()
    shutil.copyfile(HOOK, hook / "sitecustomize.py")
    for name, text in (
        ("__init__.py", TORCH),
        ("_inductor/__init__.py", ""),
        ("_inductor/compiler_bisector.py", BISECTOR),
        ("_inductor/pattern_matcher.py", PATTERNS),
    ):
        (site / "torch" / name).write_text(text)
    own = {"PYTHONPATH": f"{hook}:{site}", **variables}
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | own
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("asked", "wanted", "given"),
    [
        ({}, {"backend": "eager"}, {"backend": "eager"}),
        ({"backend": "inductor", "mode": "max-autotune"}, {"backend": "aot_eager"}, {"backend": "aot_eager"}),
        ({"fullgraph": True, "options": {"a": 1}}, {"backend": "eager"}, {"backend": "eager", "fullgraph": True}),
        ({"mode": "max-autotune"}, {"backend": "inductor"}, {"mode": "max-autotune"}),
        ({"backend": "aot_eager"}, {"backend": "eager"}, None),
        ({"backend": print}, {"disable": True}, None),
        ({}, {"disable": True}, {"disable": True}),
        ({"dynamic": True}, {"dynamic": False}, {"dynamic": False}),
        ({}, {"cudagraphs": True}, {"mode": "reduce-overhead"}),
        ({"mode": "max-autotune-no-cudagraphs"}, {"cudagraphs": True}, {"mode": "max-autotune"}),
        ({"mode": "max-autotune"}, {"cudagraphs": False}, {"mode": "max-autotune-no-cudagraphs"}),
        ({"mode": "reduce-overhead"}, {"cudagraphs": False}, {"mode": None}),
        ({"options": {"a": 1}}, {"cudagraphs": False}, {"options": {"a": 1, "triton.cudagraphs": False}}),
    ],
)
def test_what_a_call_becomes(
    asked: dict[str, object], wanted: dict[str, object], given: dict[str, object] | None
) -> None:
    assert switched(asked, wanted) == given  # type: ignore[no-untyped-call]


def test_every_way_of_calling_is_switched_and_seen(tmp_path: Path) -> None:
    script = (
        "import torch\n"
        "torch.compile(len)\n"
        "@torch.compile\ndef f(): pass\n"
        "@torch.compile(dynamic=True)\ndef g(): pass\n"
        "from torch import compile\ncompile(len, backend='inductor')\n"
        "torch.compile(len, backend='mine')\n"
    )
    seen = tmp_path / "seen.txt"
    wanted = json.dumps({"backend": "aot_eager"})
    printed = run(tmp_path, script, BISECT_COMPILE=wanted, BISECT_COMPILE_SEEN=str(seen))
    eager = "('backend', 'aot_eager')"
    assert printed.splitlines() == [
        f"[{eager}]",
        f"[{eager}]",
        f"[{eager}, ('dynamic', True)]",
        f"[{eager}]",
        "[('backend', 'mine')]",
    ]
    assert seen.read_text().splitlines() == ["switched"] * 4 + ["left mine"]


def test_a_script_without_torch_does_not_import_it(tmp_path: Path) -> None:
    wanted = json.dumps({"backend": "eager"})
    assert run(tmp_path, "import sys; print('torch' in sys.modules)", BISECT_COMPILE=wanted) == "False\n"


def test_without_a_wish_nothing_is_replaced(tmp_path: Path) -> None:
    assert run(tmp_path, "import torch; torch.compile(len, mode='x')") == "[('mode', 'x')]\n"


def test_passes_and_patterns_are_written_down(tmp_path: Path) -> None:
    file = tmp_path / "applications.txt"
    run(tmp_path, USE, BISECT_APPLICATIONS=str(file))
    assert file.read_text().splitlines() == ["-\t", "post_grad_passes\tpass_pattern_1", "*\tfold_cat", "-\t"]


def test_the_sitecustomize_that_it_hides_runs_too(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("import sys; sys.hidden_was_here = True\n")
    hook = tmp_path / "hook"
    hook.mkdir()
    shutil.copyfile(HOOK, hook / "sitecustomize.py")
    environ = {**os.environ, "PYTHONPATH": f"{hook}:{other}"}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; print(sys.hidden_was_here)"],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True\n", done.stderr
