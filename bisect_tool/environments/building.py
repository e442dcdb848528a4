"""A wheel from the source of a commit, by uv. What goes wrong in the source is the commit's fault, all else is not.

The build backend runs code of the commit: it sees the same few variables as a trial, and none of the user's secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from bisect_tool.builds.build import Build, Installation
from bisect_tool.environments.interpreter import Interpreter
from bisect_tool.environments.isolation import isolated_environment
from bisect_tool.environments.uv import KEPT, Uv
from bisect_tool.environments.uv_errors import Blame, UvFailure

_PROXIES = re.compile(r"(?i)^(http|https|all|no)_proxy$")
_SOURCE_AT_FAULT = re.compile(
    r"The build backend returned|does not appear to be a Python project|Failed to parse.*pyproject|TOML parse error|"
    r"does not contain a|Build backend failed|Invalid `pyproject|Failed to determine|is not a valid"
)
_NOT_THE_REASON = re.compile(r"^(hint:|cause: (The build backend|Call to)|error: Failed to build|Traceback|File )")


class NotBuildable(Exception):
    """The source of the commit gives no wheel; the text is the reason."""


class BuildingFailed(Exception):
    """uv failed for another reason, which `failure` tells."""

    def __init__(self, failure: UvFailure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a wheel is built: `folder` is emptied by whoever owns it; `environ` is what the tool was started with."""

    folder: Path
    uv: Uv
    environ: Mapping[str, str]


def build_wheel(
    build: Build,
    installation: Installation,
    check_out: Callable[[Path], None],
    interpreter: Interpreter,
    newest: datetime | None,
    place: Workplace,
) -> Installation:
    """The installation of the wheel that the source gives; what it is built with is not newer than `newest`.

    Raises `NotBuildable`, `BuildingFailed`, and what `check_out` raises (`HistoryUnavailable`).
    """
    source, wheels = place.folder / "source", place.folder / "wheels"
    check_out(source)
    words = ["build", "--wheel", "--no-progress", "--out-dir", str(wheels), "--python", str(interpreter.path)]
    words += installation.options
    if newest is not None:
        words += ["--exclude-newer", f"{newest:%Y-%m-%dT%H:%M:%SZ}"]
    done = replace(place.uv, environ=_environment(place)).call(*words, str(source))
    if isinstance(done, UvFailure):
        raise _blamed(done)
    found = sorted(wheels.glob("*.whl"))
    if len(found) != 1:
        raise NotBuildable(f"its source gives {len(found)} wheels")
    requirement = f"{build.package} @ {found[0].absolute().as_uri()}"
    return replace(installation, requirements=(requirement, *installation.requirements), check_out=None)


def _environment(place: Workplace) -> dict[str, str]:
    own = isolated_environment(
        place.environ, scratch=place.folder / "caches", programs=place.uv.program.parent, device="cpu"
    )
    passed = {key: value for key, value in place.environ.items() if key in KEPT or _PROXIES.match(key)}
    return {key: value for key, value in (own | passed).items() if key != "VIRTUAL_ENV"}


def _blamed(failure: UvFailure) -> Exception:
    """The source is to blame only where that is certain: the disk and the network are looked at first."""
    if failure.blame in {Blame.DISK, Blame.MACHINE} or not _SOURCE_AT_FAULT.search(failure.text):
        return BuildingFailed(failure)
    return NotBuildable(f"cannot be built: {_reason(failure.text)}")


def _reason(text: str) -> str:
    """The last line of the backend's own words; uv's where it said nothing."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    at = next((number for number, line in enumerate(lines) if line.startswith("error: Failed to build")), len(lines))
    own = [line for line in lines[:at] if not line.startswith(("Building ", "~", "^"))]
    return (own or [line for line in lines if not _NOT_THE_REASON.match(line)] or ["no reason given"])[-1][:300]
