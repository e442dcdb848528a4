"""The hook as it works in an environment: loaded by a `.pth` file, in a Python of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.environments import installing

START = "import site; site.addsitedir({packages!r})\n"


@dataclass(frozen=True, slots=True)
class Failed:
    """A Python process that has ended, and what the hook wrote."""

    status: int
    err: str
    chain: Sequence[dict[str, Any]] | None

    @property
    def types(self) -> list[tuple[str, str, str]]:
        assert self.chain is not None
        return [(one["type"], one["message"], one["relation"]) for one in self.chain]


def run(folder: Path, code: str, *, hook: bool = True) -> Failed:
    """Run `code` as a file, with the hook installed as `installing` does it."""
    packages = folder / "venv" / "lib" / "python3" / "site-packages"
    exceptions = folder / "exceptions"
    if not packages.exists():
        packages.mkdir(parents=True)
        installing._add_hook(folder / "venv")
    shutil.rmtree(exceptions, ignore_errors=True)
    exceptions.mkdir()
    script = folder / "repro.py"
    script.write_text(START.format(packages=str(packages)) + code)
    variables = {"BISECT_EXCEPTIONS": str(exceptions)} if hook else {}
    process = subprocess.Popen(
        [sys.executable, "-I", script], env={"PATH": os.environ["PATH"], **variables}, cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    _, err = process.communicate(timeout=60)
    path = exceptions / f"{process.pid}.json"
    return Failed(process.returncode, err, json.loads(path.read_text())["chain"] if path.exists() else None)


def test_an_uncaught_exception(tmp_path: Path) -> None:
    failed = run(tmp_path, "def compute():\n    raise ValueError('gradient is all zero')\ncompute()\n")
    assert failed.status == 1
    assert failed.types == [("ValueError", "gradient is all zero", "raised")]
    assert failed.chain is not None
    assert failed.chain[0]["frames"] == [[f"{tmp_path}/repro.py", "<module>"], [f"{tmp_path}/repro.py", "compute"]]
    assert failed.err.endswith("ValueError: gradient is all zero\n")


@pytest.mark.parametrize(
    ("code", "types"),
    [
        ("try:\n    {}['x']\nexcept KeyError as inner:\n    raise RuntimeError('outer') from inner\n",
         [("RuntimeError", "outer", "raised"), ("KeyError", "'x'", "cause")]),
        ("try:\n    {}['x']\nexcept KeyError:\n    raise RuntimeError('outer')\n",
         [("RuntimeError", "outer", "raised"), ("KeyError", "'x'", "context")]),
        ("try:\n    {}['x']\nexcept KeyError:\n    raise RuntimeError('outer') from None\n",
         [("RuntimeError", "outer", "raised")]),
        ("raise ExceptionGroup('many', [ValueError('a'), KeyError('b')])\n",
         [("ExceptionGroup", "many (2 sub-exceptions)", "raised"), ("ValueError", "a", "member")]),
        ("import json\njson.loads('{')\n",
         [("json.decoder.JSONDecodeError", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
           "raised")]),
        ("class Own(Exception): pass\nraise Own('mine')\n", [("Own", "mine", "raised")]),
        ("class Mute(Exception):\n    def __str__(self): raise KeyError(1)\nraise Mute\n",
         [("Mute", "<message could not be made: KeyError>", "raised")]),
        ("error = ValueError('loop')\nerror.__cause__ = error\nraise error\n", [("ValueError", "loop", "raised")]),
        ("class Odd(Exception):\n    exceptions = 7\nraise Odd('no group')\n", [("Odd", "no group", "raised")]),
    ],
)  # fmt: skip
def test_chains(tmp_path: Path, code: str, types: list[tuple[str, str, str]]) -> None:
    assert run(tmp_path, code).types == types


def test_a_long_message_and_a_deep_recursion_are_bounded(tmp_path: Path) -> None:
    code = "def deeper(n):\n    if n: deeper(n - 1)\n    raise ValueError('x' * 10**6)\n"
    failed = run(tmp_path, f"import sys; sys.setrecursionlimit(10**4)\n{code}deeper(3000)\n")
    assert failed.chain is not None
    assert len(failed.chain[0]["message"]) == 64 * 1024
    assert len(failed.chain[0]["frames"]) == 500


def test_a_long_chain_is_bounded(tmp_path: Path) -> None:
    code = (
        "def nested(n):\n    try:\n        if n: nested(n - 1)\n        raise KeyError(n)\n"
        "    except Exception as e:\n        raise ValueError(n) from e\n"
    )
    assert len(run(tmp_path, f"{code}nested(50)\n").types) == 20


@pytest.mark.parametrize(
    "code",
    ["pass", "raise SystemExit(3)", "import os; os._exit(3)", "try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass\n"],
)
def test_nothing_is_written_where_nothing_was_uncaught(tmp_path: Path, code: str) -> None:
    assert run(tmp_path, code).chain is None


def test_without_its_variable_it_does_nothing(tmp_path: Path) -> None:
    failed = run(tmp_path, "1 / 0\n", hook=False)
    assert (failed.status, failed.chain) == (1, None)


def test_a_report_that_cannot_be_written_does_not_replace_the_failure(tmp_path: Path) -> None:
    failed = run(tmp_path, "import os, shutil\nshutil.rmtree(os.environ['BISECT_EXCEPTIONS'])\n1 / 0\n")
    assert failed.status == 1
    assert "bisect: could not record the exception: FileNotFoundError" in failed.err
    assert failed.err.endswith("ZeroDivisionError: division by zero\n")


def test_a_hook_of_the_repro_itself_goes_first(tmp_path: Path) -> None:
    failed = run(tmp_path, "import sys\nsys.excepthook = lambda *_: print('mine', file=sys.stderr)\n1 / 0\n")
    assert (failed.err, failed.chain) == ("mine\n", None)


def test_half_a_character_in_a_message(tmp_path: Path) -> None:
    assert run(tmp_path, "raise ValueError('\\ud800 half')\n").types == [("ValueError", "\ud800 half", "raised")]
