"""What the Python of an environment needs to run: its folder, the interpreter under it, and environments that it links to.

A package can bring any file into an environment, also `pyvenv.cfg` and start-up files that name paths. None of these may decide
what is shown: only links, which no wheel can bring, and the mark of the environment, which lies outside of what is installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_BASE = re.compile(r"addsitedir\('([^']+)'\)")
MOST_LINKS = 40  # as the kernel follows
_DEEP = 6  # folders from a mixture, which lies in the scratch of another environment, up to the mark of that


def needed_by(programs: Path) -> tuple[Path, ...]:
    """The folders that a Python in `programs` reads, under every name by which it finds them."""
    interpreters = [*_interpreters(programs / "python")]
    found = [programs.parent, *interpreters, *_homes(programs.parent, interpreters)]
    waiting, seen = [programs.parent], {programs.parent}
    while waiting:
        venv = waiting.pop()
        for linked in _linked(venv):
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


def _homes(venv: Path, interpreters: list[Path]) -> Iterator[Path]:
    """Another name of an interpreter's installation, by which Python looks for its own files."""
    known = {os.path.realpath(path) for path in interpreters}
    try:
        lines = (venv / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        key, _, value = line.partition("=")
        home = Path(value.strip()).parent
        if key.strip() == "home" and home.is_absolute() and os.path.realpath(home) in known:
            yield home


def _linked(venv: Path) -> Iterator[Path]:
    """What a layer or a mixture takes from other environments, and the packages of the base under `base: system`.

    Whatever is linked of a distribution, its description is linked beside the packages (`bisect_tool.environments.layering`).
    """
    for site in sorted(venv.glob("lib/python*/site-packages")):
        for entry in os.scandir(site):
            if entry.is_symlink():
                yield _environment_of(site / Path(entry.path).readlink())
            elif entry.name == "_bisect_base.pth" and _is_over_system(venv):
                yield from (Path(path) for path in _BASE.findall(Path(entry.path).read_text()))


def _is_over_system(venv: Path) -> bool:
    """Whether the environment was made with `base: system`, as its mark says."""
    from bisect_tool.environments.marks import MARK, read_mark  # these know of health checks, and those of the sandbox

    for folder in [*venv.parents][:_DEEP]:
        if (folder / MARK).is_file():
            return bool(read_mark(folder).get("key", {}).get("base") == "system")
    return False


def _environment_of(target: Path) -> Path:
    site = next((folder for folder in target.parents if folder.name == "site-packages"), None)
    return site.parents[2] if site is not None else target
