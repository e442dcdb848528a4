"""Whether an environment really holds the build that was meant, and what else it holds."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from bisect_tool.builds.build import Build
from bisect_tool.environments.holding import INSTEAD, Standing, overridden, taken, unmet
from bisect_tool.environments.isolation import isolated_environment
from bisect_tool.environments.sandbox import Sandbox, sandbox_in
from bisect_tool.environments.uv import die_with_parent
from bisect_tool.stopping import Stop

PROBE = Path(__file__).with_name("health_probe.py")
NO_SPACE = "No space left on device"
# What a build cannot help: it would import once the machine has recovered.
_MACHINE = re.compile(
    NO_SPACE + r"|Disk quota exceeded|MemoryError|Cannot allocate memory|Resource temporarily unavailable|"
    r"Too many open files|CUDA out of memory|CUDA error: (out of memory|all CUDA-capable devices are busy)|"
    r"uncorrectable ECC|GPU is lost|fallen off the bus|No CUDA GPUs are available"
)
MOST_PRINTED = 4 * 1024 * 1024  # bytes of it that are looked at
TIMEOUT = 900.0  # seconds; the first import of a large package compiles thousands of files


@dataclass(frozen=True, slots=True)
class Health:
    """What the probe found. `packages` is name → version; `facts` are those of torch where it is there."""

    version: str
    revision: str | None
    python: str
    packages: Mapping[str, str]
    facts: Mapping[str, Any]


class NotHealthy(Exception):
    """The build cannot be used, and why."""


class ProbeBroke(Exception):
    """The probe itself was ended from outside, which says nothing about the build."""


def prove(
    build: Build,
    programs: Path,
    *,
    device: str,
    environ: Mapping[str, str],
    scratch: Path,
    standing: Standing,
    stop: Stop | None = None,
) -> Health:
    """Import the build in its environment and compare it with what was meant; `standing` says what may be otherwise.

    Raises `NotHealthy` with the reason, `ProbeBroke` when the probe was killed, `Cancelled` when `stop` ended it.
    """
    stop = stop or Stop()
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="health-", ignore_cleanup_errors=True) as folder:
        found = _run_probe(build, programs, device, environ, Path(folder), standing.hold, stop)
    _compare(build, found, programs)
    if found.get("unfit"):
        raise NotHealthy(found["unfit"])
    instead = _check_requirements(found, standing) if standing.base_system else overridden(found)
    facts = {**(found.get("torch") or {}), **({INSTEAD: instead} if instead else {})}
    is_commit = build.is_source or build.base is not None
    names_itself = canonicalize_name(build.package) == "torch" and not is_commit
    revision = facts.get("git_version") if names_itself else build.revision
    return Health(found["version"], revision, found["python"], found["packages"], facts)


def _run_probe(
    build: Build,
    programs: Path,
    device: str,
    environ: Mapping[str, str],
    folder: Path,
    hold: tuple[str, ...],
    stop: Stop,
) -> dict[str, Any]:
    work = folder / "work"
    work.mkdir()
    # A copy, so that the folder of this tool is not the first on the probe's path.
    script = shutil.copy(PROBE, work / "bisect_health_probe.py")
    held = [build.package, *(Requirement(text).name for text in hold)] if hold else []
    command = [str(programs / "python"), str(script), build.package, device, *held]
    variables = isolated_environment(environ, scratch=folder / "caches", programs=programs, device=device)
    sandbox = sandbox_in(environ)
    if sandbox is None:
        status = _run(command, variables, folder, stop)
    else:
        status = _run_inside(sandbox, command, variables, folder, programs, device, stop)
    stop.check()
    printed, errors = (_end_of(folder / name) for name in ("printed", "errors"))
    if status in {-9, -15, -2}:
        raise ProbeBroke(f"the health check was ended from outside by signal {-status}")
    if status != 0:
        words = _last_words(status, errors or printed)
        raise ProbeBroke(words) if _MACHINE.search(words) else NotHealthy(words)
    try:
        return dict(json.loads(printed.splitlines()[-1]))
    except (ValueError, TypeError, IndexError) as error:
        raise NotHealthy(f"the health check printed something else: {printed[-200:]!r}") from error


def _end_of(path: Path) -> str:
    """The end of what the probe printed, which may be without end."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MOST_PRINTED))
        return file.read(MOST_PRINTED).decode("utf-8", "replace")


def _run_inside(
    sandbox: Sandbox,
    command: list[str],
    variables: Mapping[str, str],
    folder: Path,
    programs: Path,
    device: str,
    stop: Stop,
) -> int:
    """Run the probe in a sandbox, which sees of `folder` what the probe writes, not what it prints.

    Raises `ProbeBroke` when the sandbox itself fails.
    """
    view = sandbox.around(programs, written=(folder / "work", folder / "caches"), device=device)
    with (folder / "status").open("w+") as told:
        number = told.fileno()
        options = ("--die-with-parent", "--json-status-fd", str(number))
        status = _run(sandbox.command(view, command, variables, *options), {}, folder, stop, (number,))
        told.seek(0)
        ended = [json.loads(line) for line in told if "exit-code" in line]
    if status < 0:
        return status
    if not ended:
        words = _end_of(folder / "errors").strip().splitlines()
        raise ProbeBroke(f"the sandbox did not start: {words[-1][:300] if words else f'exit status {status}'}")
    code = int(ended[-1]["exit-code"])
    return 128 - code if code > 128 else code


def _run(
    command: list[str], variables: Mapping[str, str], folder: Path, stop: Stop, passed: tuple[int, ...] = ()
) -> int:
    """Run the probe; its output goes to the files `printed` and `errors`, which nobody can hold open as a pipe.

    What a package starts when it is imported is ended with the probe.
    """
    with (folder / "printed").open("wb") as printed, (folder / "errors").open("wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder / "work",
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=errors,
            start_new_session=True,
            pass_fds=passed,
            preexec_fn=die_with_parent,  # noqa: PLW1509  see there
        )
    try:
        with stop.ending(lambda: _kill(process)):
            return process.wait(TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise ProbeBroke(f"the health check took more than {TIMEOUT:.0f} s") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the probe from another thread, unless it has ended by itself."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _last_words(status: int, text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if status < 0:
        fatal = next((line for line in lines if line.startswith("Fatal Python error")), "")
        return f"does not import: ended by signal {-status} {fatal}".strip()
    return f"does not import: {lines[-1][:300] if lines else f'exit status {status}'}"


def _compare(build: Build, found: Mapping[str, Any], programs: Path) -> None:
    meant = build.base or build  # the version of a layer is that of its binaries
    if not build.is_source and not _same_version(meant.version, found["version"]):
        raise NotHealthy(f"the wheel calls itself {found['version']}, not {meant.version}")
    if found["is_empty"]:
        raise NotHealthy("its wheel holds nothing but its own description")
    home = programs.parent.resolve()
    for module, file in found["modules"].items():
        if file is None:
            raise NotHealthy(f"its module {module} cannot be found after installation")
        if home not in Path(file).resolve().parents and home not in Path(file).parents:
            raise NotHealthy(f"its module {module} would be imported from {file}, not from its environment")
    torch = found.get("torch")
    if canonicalize_name(build.package) == "torch" and torch and not build.is_source:
        _compare_torch(meant, torch)


def _compare_torch(build: Build, torch: Mapping[str, Any]) -> None:
    """What torch says of itself; the index may know only the first digits of a revision, or none."""
    if not _same_version(build.version, torch["version"]):
        raise NotHealthy(f"torch.__version__ is {torch['version']}, not {build.version}")
    meant, found = build.revision or "", str(torch.get("git_version") or "")
    if meant and found and not (found.startswith(meant) or meant.startswith(found)):
        raise NotHealthy(f"torch.version.git_version is {found}, not {meant}")


def _same_version(meant: str, found: str) -> bool:
    """Equal; a local label (`+cu130`) counts only where the index gives one."""
    try:
        left, right = Version(meant), Version(found)
    except InvalidVersion:
        return meant == found
    return left == right if left.local else left.public == right.public


def _check_requirements(found: Mapping[str, Any], standing: Standing) -> list[str]:
    """With `base: system` nothing is resolved, so that what the build needs must be there already.

    Gives a sentence for each package that the spec takes as it is.
    """
    said = []
    for need, have in unmet(found["requires"], found["packages"], found["python"]):
        if standing.takes(need.name):
            said.append(taken(need, have))
            continue
        if have is None:
            raise NotHealthy(f"needs {need.name}, which the base interpreter does not have: add it to `requires:`")
        raise NotHealthy(f"needs {need.name}{need.specifier}, and the base interpreter has {have}")
    return said
