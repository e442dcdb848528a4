"""What the Python of an environment needs to run: its folder, the interpreter under it, and environments that it links to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_BASE = re.compile(r"addsitedir\('([^']+)'\)")
MOST_LINKS = 40  # as the kernel follows


def needed_by(programs: Path) -> tuple[Path, ...]:
    """The folders that a Python in `programs` reads, under every name by which it finds them."""
    found = [programs.parent, *_interpreters(programs / "python"), *_homes(programs.parent)]
    waiting, seen = [programs.parent], {programs.parent}
    while waiting:
        for site in sorted(waiting.pop().glob("lib/python*/site-packages")):
            for linked in _linked(site):
                found.append(linked)
                if linked not in seen:
                    seen.add(linked)
                    waiting.append(linked)
    return tuple(dict.fromkeys(path for path in found if path.parent != path))


def _interpreters(python: Path) -> Iterator[Path]:
    """The installation of each link on the way to the real interpreter."""
    for _ in range(MOST_LINKS):
        yield python.parent.parent
        yield Path(os.path.realpath(python.parent)).parent
        if not python.is_symlink():
            return
        python = python.parent / python.readlink()


def _homes(venv: Path) -> Iterator[Path]:
    try:
        lines = (venv / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip() == "home" and value.strip().startswith("/"):
            yield Path(value.strip()).parent


def _linked(site: Path) -> Iterator[Path]:
    """What a layer or a mixture takes from other environments, and the packages of the base under `base: system`.

    Whatever is linked of a distribution, its description is linked beside the packages (`bisect_tool.environments.layering`).
    """
    for entry in os.scandir(site):
        if entry.is_symlink():
            yield _environment_of(site / Path(entry.path).readlink())
        elif entry.name == "_bisect_base.pth":
            yield from (Path(path) for path in _BASE.findall(Path(entry.path).read_text()))


def _environment_of(target: Path) -> Path:
    site = next((folder for folder in target.parents if folder.name == "site-packages"), None)
    return site.parents[2] if site is not None else target
