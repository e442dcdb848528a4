"""The tool starts quickly: what it does not need is not loaded. Processor time, with compiled files, of the best of three."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HEAVY = {
    "alembic", "bs4", "cachecontrol", "fastapi", "jinja2", "matplotlib", "numpy", "psutil", "pydantic", "pypi_simple",
    "ray", "requests", "rich", "scipy", "sqlalchemy", "urllib3", "uv",
}  # fmt: skip
OF_A_SPEC = {"pydantic", "psutil"}
SPEC = str(Path(__file__).parent / "folder" / "good.yaml")


def start(folder: Path, *words: str, options: Sequence[str] = ()) -> tuple[set[str], float]:
    """The top-level modules that a start loads, and the processor seconds that it takes."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("BISECT_", "PYTHON"))}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *options, "-m", "bisect_tool", *words],
        env={**kept, "HOME": str(folder), "PYTHONPYCACHEPREFIX": str(folder / "compiled")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    loaded = [line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {name.partition(".")[0] for name in loaded}, seconds


@pytest.mark.parametrize(
    ("words", "may", "most"), [(["--help"], set(), 0.2), (["check", "--no-plan", SPEC], OF_A_SPEC, 0.5)]
)
def test_a_start_is_quick(tmp_path: Path, words: list[str], may: set[str], most: float) -> None:
    loaded, _ = start(tmp_path, *words, options=["-X", "importtime"])
    assert "bisect_tool" in loaded
    assert loaded & HEAVY <= may
    assert min(start(tmp_path, *words)[1] for _ in range(3)) <= most
