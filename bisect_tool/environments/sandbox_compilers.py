"""The compilers that trials are given in CC and CXX: where they are installed, so that the sandbox shows them.

A trial in which Inductor finds no compiler fails on every build, which must not be a matter of having a sandbox.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

# Of the tool's own environment, which its operator sets: a spec that sets them has nothing more shown.
VARIABLES = ("CC", "CXX")


def installations(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders of the compilers that CC and CXX name by their whole path, links followed.

    `/opt/gcc` for `/opt/gcc/bin/gcc`. Never the root or what lies right in it, nor a home or what it lies in: those hold more
    than a compiler, and `--sandbox-shows` can say them.
    """
    named = (environ.get(name, "").split(" ")[0] for name in VARIABLES)
    found = (folder for path in named if path.startswith("/") for folder in _folders(Path(path)))
    return tuple(dict.fromkeys(folder for folder in found if not _is_too_much(folder, environ)))


def _folders(program: Path) -> Iterator[Path]:
    for path in (program, Path(os.path.realpath(program))):
        yield path.parent.parent if path.parent.name == "bin" else path.parent


def _is_too_much(folder: Path, environ: Mapping[str, str]) -> bool:
    home, real = Path(os.path.realpath(environ.get("HOME") or Path.home())), Path(os.path.realpath(folder))
    return len(real.parts) <= 2 or real == home or real in home.parents
