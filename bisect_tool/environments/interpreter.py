"""The Python interpreter that builds run on."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bisect_tool.environments.uv import Uv
from bisect_tool.errors import PythonMissing

_QUESTION = """
import json, platform, sys, sysconfig
print(json.dumps({
    "version": platform.python_version(), "implementation": sys.implementation.name,
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")), "machine": platform.machine(),
    "prefix": sys.prefix, "base_prefix": sys.base_prefix, "purelib": sysconfig.get_path("purelib"),
}))
"""


_PACKAGES = """
from importlib.metadata import distributions
print("\\n".join(sorted({f"{one.name}=={one.version}" for one in distributions()})))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter on this machine. `purelib` is where its own packages lie; `in_environment`: it is a virtual one."""

    path: Path
    version: str
    implementation: str
    free_threaded: bool
    machine: str
    purelib: Path
    in_environment: bool

    @property
    def identity(self) -> str:
        """What results are stored under: `cpython-3.11.7-x86_64`, with a `t` after the version when free-threaded."""
        return f"{self.implementation}-{self.version}{'t' if self.free_threaded else ''}-{self.machine}"


def find_interpreter(wanted: str | None, uv: Uv, *, keep_environment: bool = False) -> Interpreter:
    """The interpreter for `wanted` (`3.11`, `3.13t`, a path); None is the one that runs this tool.

    With `keep_environment` a virtual environment is taken as it is (for `base: system`), otherwise its base.
    Raises `PythonMissing`.
    """
    if wanted is None:
        return _inspect(_own(keep_environment=keep_environment))
    if re.match(r"^\d+\.\d+", wanted) is None and Path(wanted).exists():
        return _inspect(_runnable(Path(wanted)))
    words = ["python", "find", "--no-project", *([] if keep_environment else ["--system"]), wanted]
    found = uv.call(*words)
    if not isinstance(found, str):
        fetched = uv.call("python", "install", wanted)
        found = uv.call(*words) if isinstance(fetched, str) else fetched
    if not isinstance(found, str):
        raise PythonMissing(
            f"no Python {wanted} on this machine, and uv could not fetch one: {found.reason}",
            advice=f"install Python {wanted}, or name another version with `python:` in the spec or --python",
        )
    return _inspect(Path(found.strip()))


@lru_cache
def packages_digest(path: Path) -> str:
    """A name for the packages that an interpreter has, with their versions: the same on every host that has the same ones.

    Asked once in a process. Raises `PythonMissing`.
    """
    return hashlib.sha256(_answer(path, _PACKAGES).encode()).hexdigest()[:16]


def spare_pythons(own: Interpreter, uv: Uv) -> tuple[str, ...]:
    """Other CPython versions (`3.12`) that can be had here, those that are installed first, each time newest first.

    Free-threaded and pre-release ones are left out: nobody gets one without asking for it.
    """
    listed = uv.call("python", "list", "--output-format", "json")
    if not isinstance(listed, str):
        return ()
    found: dict[tuple[int, int], bool] = {}
    for one in json.loads(listed):
        is_usual = one["implementation"] == "cpython" and one.get("variant", "default") == "default"
        if is_usual and one["version"].replace(".", "").isdigit():
            parts = one["version_parts"]
            minor = int(parts["major"]), int(parts["minor"])
            found[minor] = found.get(minor, False) or one.get("path") is not None
    major_of_own, minor_of_own = own.version.split(".")[:2]
    found.pop((int(major_of_own), int(minor_of_own)), None)
    ranked = sorted(found, key=lambda minor: (not found[minor], -minor[0], -minor[1]))
    return tuple(f"{major}.{minor}" for major, minor in ranked)


def _own(*, keep_environment: bool) -> Path:
    if keep_environment:
        return Path(sys.executable)
    return Path(getattr(sys, "_base_executable", None) or sys.executable)


def _runnable(path: Path) -> Path:
    """The interpreter of a virtual environment that was named by its folder."""
    return path / "bin" / "python" if path.is_dir() else path


def _inspect(path: Path) -> Interpreter:
    try:
        facts = json.loads(_answer(path, _QUESTION))
    except ValueError as error:
        raise _does_not_run(path, error) from error
    return Interpreter(
        path=path,
        version=facts["version"],
        implementation=facts["implementation"],
        free_threaded=facts["free_threaded"],
        machine=facts["machine"],
        purelib=Path(facts["purelib"]),
        in_environment=facts["prefix"] != facts["base_prefix"],
    )


def _answer(path: Path, question: str) -> str:
    """What an interpreter prints when it runs `question`."""
    try:
        done = subprocess.run([str(path), "-I", "-c", question], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise _does_not_run(path, error) from error
    return done.stdout


def _does_not_run(path: Path, error: Exception) -> PythonMissing:
    return PythonMissing(
        f"the interpreter does not run: {error}",
        where=str(path),
        advice="name another one with `python:` in the spec or --python",
    )
