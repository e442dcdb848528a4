"""The sandbox: bubblewrap around every process that runs code of a repro or of a build. `docs/security.md` says what it keeps.

A process inside sees the programs and libraries of the system, its build, and its own scratch, under the paths that they have
outside, so that whatever it prints is the same. It has processes, users, a network and shared memory of its own; nothing of
the tool is there: no home, no cache, no database, no other trial. The setting `sandbox` says whether it is used:
`wish_of` reads it from the variables of a run, where `bisect_tool.runs.workshop` has put it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bisect_tool.environments import sandbox_faults, sandbox_walls
from bisect_tool.environments.sandbox_compilers import installations
from bisect_tool.environments.sandbox_faults import SandboxBroken
from bisect_tool.environments.shown import needed_by
from bisect_tool.errors import MachineFault, SettingError

WISH, SHOWS = "BISECT_SANDBOX", "BISECT_SANDBOX_SHOWS"
OFF, AUTO, ON = "off", "auto", "on"
PROGRAM = "bwrap"
PATIENCE = 30.0  # seconds for one empty process in a sandbox
# What not every machine can do; without it a sandbox keeps what it promises, but the kernel shows more of itself.
_BETTER = (("--disable-userns",), ())
_TOOLS = (
    "CUDA_HOME",
    "CUDA_PATH",
    "ROCM_HOME",
)  # of the tool's own variables, never of a spec: where compilers may lie


@dataclass(frozen=True, slots=True)
class View:
    """What a process in the sandbox sees besides the system.

    `shown` may be read, `written` be written too; `placed` are (folder outside, path inside) that may be written. `device` is
    that of the trial: with `cuda` the devices of the driver are there. `memory` bounds each file system in memory, in bytes.
    """

    shown: tuple[Path, ...] = ()
    written: tuple[Path, ...] = ()
    placed: tuple[tuple[Path, Path], ...] = ()
    device: str = "cpu"
    memory: int = 0


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A bubblewrap that works here: its `program`, the `options` that this machine can do, and what else everybody sees."""

    program: str
    options: tuple[str, ...]
    shows: tuple[Path, ...] = ()

    def words(self, view: View, *options: str) -> list[str]:
        """What to put before a command; `options` are further ones of bubblewrap. Paths that do not exist are left out."""
        placed = sorted(_mounts(view, (*self.shows, *own_python())), key=lambda mount: len(Path(mount[2]).parts))
        return [
            self.program,
            *sandbox_walls.APART,
            *self.options,
            *options,
            *sandbox_walls.system(view.device, view.memory),
            *(word for mount in placed for word in mount),
            *sandbox_walls.CLOSED,
            "--",
        ]

    def command(self, view: View, command: Sequence[str], variables: Mapping[str, str], *options: str) -> list[str]:
        """A whole command with its variables; bubblewrap tells of a signal as a shell does, as the exit status 128 and more."""
        given = (word for name, value in variables.items() for word in ("--setenv", name, value))
        return [*self.words(view, *options, *given), *command]

    def shows_file(self, path: str) -> bool:
        """Whether a file of outside is there inside whatever a process is: as part of the system, or as shown to everybody."""
        real = Path(os.path.realpath(path))
        return sandbox_walls.is_there(str(real)) or any(
            real.is_relative_to(os.path.realpath(one)) for one in self.shows
        )

    def around(self, programs: Path, *, written: Sequence[Path], device: str, memory: int = 0) -> View:
        """The view of a process whose Python lies in `programs`, the folder of an environment."""
        return View(needed_by(programs), tuple(written), device=device, memory=memory)


def _mounts(view: View, more: Sequence[Path]) -> list[tuple[str, str, str]]:
    shown = (("--ro-bind-try", str(path), str(path)) for path in dict.fromkeys((*view.shown, *more)))
    written = (("--bind", str(path), str(path)) for path in dict.fromkeys(view.written))
    placed = (("--bind", str(outside), str(inside)) for outside, inside in view.placed)
    return [*(mount for mount in shown if not sandbox_walls.is_there(mount[1])), *written, *placed]


def own_interpreter() -> str:
    """The interpreter of this tool without its environment, for the programs that watch over a trial from inside."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def own_python() -> tuple[Path, ...]:
    """What that interpreter needs, and the programs themselves."""
    trials = Path(__file__).parent.parent / "trials"
    prefixes = {Path(os.path.realpath(prefix)) for prefix in (sys.base_prefix, sys.base_exec_prefix)}
    return (*sorted(prefixes), trials / "supervisor.py", trials / "warm_server.py")


def wish_of(environ: Mapping[str, str]) -> str:
    """`off`, `auto` or `on`."""
    return environ.get(WISH) or OFF


def sandbox_in(environ: Mapping[str, str]) -> Sandbox | None:
    """The sandbox that a run uses, None for none.

    Raises `MachineFault` when there has to be one and it does not work: never is anything run without it then.
    """
    wish = wish_of(environ)
    if wish == OFF:
        return None
    try:
        return find_sandbox(environ)
    except SandboxBroken as broken:
        if wish == AUTO:
            return None
        raise MachineFault(broken.what, where=broken.where, advice=broken.advice) from broken


def settled_wish(wish: str, environ: Mapping[str, str], source: str) -> str:
    """`on` or `off`: what `auto` comes to on this machine.

    Raises `SettingError` when it is on and does not work here; `source` is where the setting came from.
    """
    if wish == OFF:
        return OFF
    try:
        find_sandbox(environ)
    except SandboxBroken as broken:
        if wish == AUTO:
            return OFF
        raise SettingError(
            f"the sandbox is on ({source}) and does not work here: {broken.what}",
            where=broken.where,
            advice=broken.advice,
        ) from broken
    return ON


def find_sandbox(environ: Mapping[str, str]) -> Sandbox:
    """The bubblewrap of this machine, after it has run one process. Raises `SandboxBroken` with what is missing."""
    shows = [environ.get(name, "") for name in _TOOLS] + environ.get(SHOWS, "").split(":")
    paths = (Path(text) for text in shows if text.startswith("/") and text.strip("/"))
    return _proven(environ.get("PATH", os.defpath), tuple(dict.fromkeys((*paths, *installations(environ)))))


@lru_cache(maxsize=8)
def _proven(path: str, shows: tuple[Path, ...]) -> Sandbox:
    program = shutil.which(PROGRAM, path=path)
    if program is None:
        raise sandbox_faults.not_installed()
    said = ""
    for options in _BETTER:
        sandbox = Sandbox(program, options, shows)
        said = _tried(sandbox)
        if not said:
            return sandbox
    raise sandbox_faults.explained(program, said)


def _tried(sandbox: Sandbox) -> str:
    """What goes wrong when a process is started in a sandbox; empty when nothing does."""
    words = [*sandbox.words(View()), own_interpreter(), "-I", "-S", "-c", "print('inside')"]
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            env={},
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error) or type(error).__name__
    if done.returncode == 0 and done.stdout == "inside\n":
        return ""
    return done.stderr.strip() or f"exit status {done.returncode}"
