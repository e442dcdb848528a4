"""Provoke everything, or the situations named, and save what uv said: ``python -m tests.rig.provoking [NAME…]``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.rig.index import serve
from tests.rig.provoking import machine, network, wheels
from tests.rig.provoking.stage import SITUATIONS, Ran, Situation, Stage
from tests.rig.uv_message import FOLDER, UvMessage, all_messages, write_message

GROUPS = (network, wheels, machine)


def act(chosen: Situation) -> Ran:
    """Provoke one situation on a fresh stage."""
    with tempfile.TemporaryDirectory(prefix="stage-") as name:
        root = Path(name)
        root.chmod(0o755)
        (root / "wheels").mkdir()
        with serve(root / "wheels") as index:
            stage = Stage(root, index)
            stage.venv()
            return chosen.provoke(stage)


def table() -> str:
    """The README of the saved messages."""
    rows = [
        f"| [{m.name}]({m.name}.txt) | {m.situation} | {m.blame} | {m.status} | {_last(m.stderr)} |"
        for m in all_messages()
    ]
    head = [
        "# What uv says when something goes wrong",
        "",
        "Made by `python -m tests.rig.provoking` with real uv (0.13.9) and the local index of the rig, as root.",
        "`blame` is whose fault the situation is, whatever the text suggests. A negative status is a signal.",
        "`tests.rig.uv_message` reads the files. Not provoked: a disk quota (the kernel had none; to be expected is",
        "`Disk quota exceeded (os error 122)` in the place of `No space left on device (os error 28)`).",
        "",
        "| name | situation | blame | status | last line |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].replace("|", "\\|")[:160] if lines else ""


def main(names: list[str]) -> None:
    """Save the messages of the situations named, or of all."""
    for chosen in [SITUATIONS[name] for name in names] or SITUATIONS.values():
        try:
            ran = act(chosen)
        except subprocess.CalledProcessError as error:
            print(f"{chosen.name}: not possible here ({error})")
            continue
        write_message(
            UvMessage(chosen.name, chosen.text, chosen.blame, ran.command, ran.status, ran.stdout, ran.stderr)
        )
        print(f"{chosen.name}: {ran.status} {_last(ran.stderr)}")
    (FOLDER / "README.md").write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
