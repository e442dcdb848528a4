"""What real uv printed and how it ended in a known situation; the files are in `uv_messages/`.

A file has a head of ``key: value`` lines, then ``--- stdout`` and ``--- stderr`` with the texts. Paths of the machine
are replaced by ``STAGE``, ``PYTHON`` and ``UV``, ports by ``PORT``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

FOLDER = Path(__file__).with_name("uv_messages")


class Blame(StrEnum):
    """Who is at fault in a situation: what the classification of uv's errors has to find out."""

    NOBODY = "nobody"
    NETWORK = "network"
    BUILD = "build"
    REQUIREMENTS = "requirements"
    DISK = "disk"
    CACHE = "cache"
    PYTHON = "python"
    MACHINE = "machine"
    UV = "uv"


@dataclass(frozen=True, slots=True)
class UvMessage:
    """One run of uv. `status` is the exit status, negative for a signal, as `subprocess` gives it."""

    name: str
    situation: str
    blame: Blame
    command: str
    status: int
    stdout: str
    stderr: str


def write_message(message: UvMessage, folder: Path = FOLDER) -> Path:
    """Save a message under its name."""
    folder.mkdir(parents=True, exist_ok=True)
    command = f"command: {message.command}\nstatus: {message.status}\n"
    head = f"situation: {message.situation}\nblame: {message.blame}\n{command}"
    path = folder / f"{message.name}.txt"
    path.write_text(f"{head}--- stdout\n{message.stdout}--- stderr\n{message.stderr}", encoding="utf-8")
    return path


def read_message(name: str, folder: Path = FOLDER) -> UvMessage:
    """The message called `name`."""
    text = (folder / f"{name}.txt").read_text(encoding="utf-8")
    head, rest = text.split("--- stdout\n", 1)
    stdout, stderr = rest.split("--- stderr\n", 1)
    said = dict(line.split(": ", 1) for line in head.splitlines())
    return UvMessage(
        name, said["situation"], Blame(said["blame"]), said["command"], int(said["status"]), stdout, stderr
    )


def all_messages(folder: Path = FOLDER) -> tuple[UvMessage, ...]:
    """Every saved message, by name."""
    return tuple(read_message(path.stem, folder) for path in sorted(folder.glob("*.txt")))
