"""A stand-in for the program `bisect`: notes how it was called, and ends as `told` says.

program = scripted_bisect(folder, "3")          # exits with 3
program = scripted_bisect(folder, "wait")       # says that it waits, and exits with 130 on SIGTERM, as bisect does
calls(folder)                                   # [{"words": […], "environ": {…}}]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_PROGRAM = """#!{python}
import json, os, signal, sys
from pathlib import Path

folder, told = Path({folder!r}), {told!r}
environ = {{name: value for name, value in os.environ.items() if name.startswith("BISECT_")}}
with (folder / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps({{"words": sys.argv[1:], "environ": environ}}) + "\\n")
out = Path(sys.argv[sys.argv.index("--out") + 1])
for name, text in {reports!r}.items():
    (out / "specs" / name).mkdir(parents=True, exist_ok=True)
    (out / "specs" / name / "report.md").write_text(text)
if told == "wait":
    def end(*_):
        sys.exit(130)
    signal.signal(signal.SIGTERM, end)
    print("waiting", flush=True)
    signal.pause()
sys.exit(int(told))
"""


def scripted_bisect(folder: Path, told: str, reports: dict[str, str] | None = None) -> Path:
    """Write the program; `reports` are the Markdown reports that it leaves, by the name of their spec."""
    path = folder / "bisect"
    path.write_text(
        _PROGRAM.format(python=sys.executable, folder=str(folder), told=told, reports=reports or {}), encoding="utf-8"
    )
    path.chmod(0o755)
    return path


def calls(folder: Path) -> list[dict[str, Any]]:
    """How it was called, in order."""
    path = folder / "calls.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
