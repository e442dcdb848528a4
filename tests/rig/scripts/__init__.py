"""Repros that behave badly. Each file is one; they need nothing but Python, and what lasts "for ever" ends by itself.

Scripts that leave processes behind take the path of a file as their first argument and write the process ids into it;
`survivors` reads it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psutil

FOLDER = Path(__file__).parent
MARKER = "may-be-deleted"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"))


def script(name: str) -> Path:
    """The path of the script called `name`, one of `NAMES`."""
    if name not in NAMES:
        raise ValueError(f"no such script: {name}")
    return FOLDER / f"{name}.py"


def script_copy(name: str, folder: Path) -> Path:
    """A copy in a folder of its own; only there does `deletes_its_folders` do its work."""
    own = folder / name
    own.mkdir(parents=True)
    (own / MARKER).touch()
    return Path(shutil.copy(script(name), own))


def oddly_named_copy(folder: Path) -> bytes:
    """A copy of `prints_its_arguments` whose file name is not UTF-8."""
    path = os.fsencode(folder) + b"/repro-\xff\xfe.py"
    Path(os.fsdecode(path)).write_bytes(script("prints_its_arguments").read_bytes())
    return path


def survivors(pid_file: Path) -> list[psutil.Process]:
    """The processes noted in `pid_file` that are still running."""
    found = []
    for word in pid_file.read_text().split():
        try:
            process = psutil.Process(int(word))
            is_ours = any(Path(part).stem in NAMES for part in process.cmdline())
        except psutil.NoSuchProcess:
            continue
        if is_ours and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found
