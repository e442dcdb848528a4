from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.deploy.schemas import DEPLOY, ROOT

SHELLCHECK = Path(sys.executable).parent / "shellcheck"
SCRIPTS = [
    DEPLOY / "slurm" / "bisect-batch.sbatch",
    DEPLOY / "action" / "run",
    DEPLOY / "image" / "lock",
    ROOT / ".ci" / "run",
]


def complaints(path: Path) -> str:
    return subprocess.run([SHELLCHECK, "--norc", path], capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(script: Path) -> None:
    assert complaints(script) == ""


def test_shellcheck_would_say_it(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nrm -rf $1/bin\n")
    assert "SC2086" in complaints(script)
