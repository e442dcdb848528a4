"""Environments without uv: a tiny wheel is fetched over HTTP and unpacked, in milliseconds instead of a second.

For searches over hundreds of histories. What uv does with the same wheels is tested elsewhere, with uv.
"""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import requests

from bisect_tool.builds.build import Installation
from bisect_tool.environments.environment import BuildUnusable, Environment, EnvironmentKey, Environments, Step
from bisect_tool.environments.health import Health
from bisect_tool.runs.device import Device
from bisect_tool.runs.surveying import Means
from bisect_tool.runs.workshop import Workshop

ATTEMPTS = 6
_SEEN = "import torch, sys; print(torch.__version__, torch.version.git_version)"


@dataclass(frozen=True, slots=True)
class DirectEnvironments(Environments):
    """Unpacks the first requirement of an installation, which must be a wheel's address, and imports it once."""

    def is_ready(self, key: EnvironmentKey) -> bool:
        """Whether it was unpacked and can be imported."""
        return (self._folder(key) / "proven").exists()

    @contextmanager
    def use(
        self,
        key: EnvironmentKey,
        install: Callable[[], Installation],
        *,
        device: str,  # noqa: ARG002  as in Environments
        as_of: datetime | None,  # noqa: ARG002
        tell: Callable[[Step], None] = lambda _step: None,  # noqa: ARG002
    ) -> Iterator[Environment]:
        """The environment of `key`. Raises `BuildUnusable` when the build does not import."""
        folder = self._folder(key)
        cached = self.is_ready(key)
        if not cached:
            _unpack(install().requirements[0].partition(" @ ")[2], folder)
            version, revision = _imported(folder)
            (folder / "proven").write_text(f"{version} {revision}")
        version, revision = (folder / "proven").read_text().split()
        yield Environment(folder, Health(version, revision, key.interpreter.version, {}, {}), cached)


def _unpack(address: str, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(_fetch(address))) as wheel:
        wheel.extractall(folder / "site")
    python = folder / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(f"#!/bin/sh\nPYTHONPATH='{folder / 'site'}' exec '{sys.executable}' \"$@\"\n")
    python.chmod(0o755)


def _fetch(address: str) -> bytes:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            answer = requests.get(address, timeout=10)
            if answer.status_code == requests.codes.ok:
                return answer.content
        except requests.RequestException:
            if attempt == ATTEMPTS:
                raise
    raise BuildUnusable("the index lists its wheel but does not have it")


def _imported(folder: Path) -> Sequence[str]:
    done = subprocess.run(
        [str(folder / "venv" / "bin" / "python"), "-c", _SEEN], capture_output=True, text=True, check=False, cwd=folder
    )
    if done.returncode != 0:
        raise BuildUnusable(f"does not import: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout.split()


@dataclass(frozen=True)
class DirectWorkshop(Workshop):
    """A workshop whose environments are direct ones, on a machine with this `device`."""

    device: Device = field(kw_only=True)

    def environments(self) -> Environments:
        """Direct ones, in the cache of the workshop."""
        return DirectEnvironments(self.cache, self.uv, self.environ)

    def means(self, tell: Callable[[str], None] = lambda _line: None, *, refresh: bool = True) -> Means:
        """Those of any workshop, on the machine of the rig."""
        return replace(super().means(tell, refresh=refresh), find_device=self._found)

    def _found(self, _wanted: Sequence[str], _environ: Mapping[str, str]) -> Device:
        return self.device
