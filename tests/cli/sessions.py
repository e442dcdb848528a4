"""Sessions on the command line: the words of `golden/NAME.args`, and what `golden/NAME.out` says is printed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
FOLDER = Path(__file__).parent / "folder"


def names() -> list[str]:
    """The sessions that there are."""
    return sorted(path.stem for path in GOLDEN.glob("*.args"))


def bisect(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the tool in `folder`, as a user without any settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("BISECT_", "XDG_", "UV_", "PIP_"))}
    return subprocess.run(
        [sys.executable, "-m", "bisect_tool", *words],
        cwd=folder,
        env={**kept, "HOME": str(folder), "COLUMNS": "100", **environ},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=60,
        check=False,
    )


def transcript(name: str, folder: Path) -> str:
    """What a session prints, run in `folder`, which gets the files of `FOLDER`."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    done = bisect(folder, *shlex.split((GOLDEN / f"{name}.args").read_text()))
    parts = [done.stdout, *(["--- standard error\n", done.stderr] if done.stderr else []), f"--- {done.returncode}\n"]
    return "".join(parts)
