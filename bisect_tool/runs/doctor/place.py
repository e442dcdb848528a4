"""What checks look at: the question, the settings, and every way out to the machine, each of which a test can replace."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from bisect_tool.builds.build import Machine
from bisect_tool.builds.fitting import target_for
from bisect_tool.runs.gpus_seen import SeenGpus, see_gpus
from bisect_tool.runs.nvml import NoDriver
from bisect_tool.settings import Settings
from bisect_tool.spec.model import Spec

PATIENCE = 5.0  # seconds for an answer of a server
PROGRAMS = 15.0  # seconds for a program: uv starts every Python that it finds


class Unanswered(Exception):
    """A server gave no answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer: its `status`, seconds until its first byte, its headers in lower case and up to 64 kB of its body."""

    status: int
    seconds: float
    headers: Mapping[str, str]
    body: str = ""


def fetch(address: str, headers: Mapping[str, str] | None = None) -> Fetched:
    """Ask a server for a page.

    Raises `Unanswered`.
    """
    import requests

    started = time.monotonic()
    try:
        with requests.get(address, headers=dict(headers or {}), timeout=PATIENCE, stream=True) as answer:
            seconds = time.monotonic() - started
            body = next(answer.iter_content(1 << 16), b"").decode("utf-8", "replace")
            named = {name.lower(): value for name, value in answer.headers.items()}
            return Fetched(answer.status_code, seconds, named, body)
    except requests.RequestException as error:
        raise Unanswered(_plain(error)) from error


def _plain(error: Exception) -> str:
    import requests

    if isinstance(error, requests.Timeout):
        return f"no answer within {PATIENCE:g} s"
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not accepted"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy refuses"
    return "no connection" if isinstance(error, requests.ConnectionError) else type(error).__name__


def call(words: Sequence[str]) -> str | None:
    """What a program prints; None when it is not there, fails or takes too long."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=PROGRAMS, check=True, errors="replace")
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def room_on(path: Path) -> tuple[int, int]:
    """Bytes in all and bytes free on the file system of a path that exists. Raises `OSError`."""
    usage = shutil.disk_usage(path)
    return usage.total, usage.free


@dataclass(frozen=True)
class Place:
    """Everything that a check may look at. `asked` holds channel, device, bounds, variant and Python as in a spec."""

    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    asked: Spec
    gpus: Callable[[], SeenGpus] = see_gpus
    fetch: Callable[[str, Mapping[str, str] | None], Fetched] = fetch
    call: Callable[[Sequence[str]], str | None] = call
    which: Callable[[str], str | None] = shutil.which
    room: Callable[[Path], tuple[int, int]] = room_on
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    home: Path = field(default_factory=Path.home)

    @cached_property
    def seen(self) -> SeenGpus | str:
        """The GPUs, or why there are none."""
        if self.environ.get("CUDA_VISIBLE_DEVICES", "unset") in {"", "-1"}:
            return "CUDA_VISIBLE_DEVICES hides every GPU"
        try:
            found = self.gpus()
        except NoDriver as error:
            return f"NVML says: {error}"
        return found if found.cards else "the NVIDIA driver lists no GPU"

    @property
    def needs_gpu(self) -> bool:
        """Whether nothing but a GPU will do."""
        return "cpu" not in self.asked.device

    @property
    def machine(self) -> Machine:
        """What builds would run on, as a channel is told."""
        if "cuda" in self.asked.device and isinstance(self.seen, SeenGpus):
            return Machine("cuda", self.seen.driver, self.seen.cards[0].capability)
        return Machine("cpu")

    @property
    def platform(self) -> str:
        """The best platform tag here, such as `manylinux_2_39_x86_64`."""
        return target_for("3.11").tags[0].platform

    @property
    def cache_root(self) -> Path:
        """The cache, or the folder nearest to it that exists."""
        path = self.settings.cache
        while not path.exists() and path != path.parent:
            path = path.parent
        return path


def real_place(settings: Settings, asked: Spec) -> Place:
    """This machine."""
    return Place(settings, dict(os.environ), asked)
