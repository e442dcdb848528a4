"""Calling uv: one place that knows its command line, its environment and its progress lines.

Why these options: ``--no-config`` and a cleaned environment, so that a user's uv.toml, UV_INDEX or an active virtual
environment cannot change what is installed; ``--only-binary :all:``, so that a build is a wheel and nothing is compiled
in passing; a cache on the file system of the environments, so that these are hard links (see `docs/environments.md`).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bisect_tool.environments.uv_errors import UvFailure, explain
from bisect_tool.errors import UvMissing
from bisect_tool.stopping import Stop

# What a user may have set for the way to the network or to interpreters; everything else of UV_*, PIP_* is left out.
KEPT = frozenset({
    "UV_HTTP_TIMEOUT", "UV_HTTP_CONNECT_TIMEOUT", "UV_HTTP_RETRIES", "UV_CONCURRENT_DOWNLOADS", "UV_SYSTEM_CERTS",
    "UV_NATIVE_TLS", "UV_INSECURE_HOST", "UV_PYTHON_INSTALL_DIR", "UV_PYTHON_INSTALL_MIRROR", "UV_PYTHON_DOWNLOADS",
    "UV_OFFLINE", "UV_KEYRING_PROVIDER", "UV_LINK_MODE",
})  # fmt: skip
LEFT_OUT = re.compile(r"^(UV_|PIP_|PYTHON|VIRTUAL_ENV|CONDA_|LD_LIBRARY_PATH|LD_PRELOAD)")

_DOWNLOADING = re.compile(r"^\s*Downloading (?P<name>\S+) \((?P<size>[\d.]+)(?P<unit>[KMGT]?i?B)\)")
_DOWNLOADED = re.compile(r"^\s*Downloaded (?P<name>\S+)")
_PRCTL = ctypes.CDLL(None).prctl
_PR_SET_PDEATHSIG = 1
_UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}


@dataclass(frozen=True, slots=True)
class Download:
    """Progress: `name` of `size` bytes (None: unknown) has begun, has `here` bytes by now where that is known, or is `done`."""

    name: str
    size: int | None
    done: bool
    here: int = 0


@dataclass(frozen=True, slots=True)
class Uv:
    """The uv program and the environment that it runs in. `stop` ends a call from another thread."""

    program: Path
    cache: Path
    environ: Mapping[str, str] = field(repr=False)
    stop: Stop = field(default_factory=Stop, repr=False, compare=False)

    def call(self, *words: str, progress: Callable[[Download], None] | None = None, stdin: str = "") -> str | UvFailure:
        """Run uv with the text `stdin`; its standard output, or why it failed.

        Raises `UvMissing` when it cannot be started, `Cancelled` when the call was stopped. Ctrl-C ends uv too.
        """
        self.stop.check()
        command = [str(self.program), words[0], "--no-config", "--color", "never", *words[1:]]
        # Files, not pipes, for what is read in one piece: nothing can fill up while the progress lines are read.
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+", errors="replace") as printed:
            given.write(stdin)
            given.seek(0)
            try:
                process = subprocess.Popen(
                    command,
                    stdin=given,
                    stdout=printed,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                    env=self._environment(),
                    start_new_session=True,
                    preexec_fn=die_with_parent,  # noqa: PLW1509  see there
                )
            except OSError as error:
                raise uv_missing(str(self.program), error) from error
            with _ended_with_us(process), self.stop.ending(lambda: _end(process)):
                errors = _read_progress(process, progress)
                status = process.wait()
            self.stop.check()
            printed.seek(0)
            output = printed.read()
        return output if status == 0 else explain(errors or output, status)

    def version(self) -> str:
        """The version of uv, for the report."""
        out = self.call("--version")
        return out.strip() if isinstance(out, str) else "unknown"

    def _environment(self) -> dict[str, str]:
        kept = {key: value for key, value in self.environ.items() if key in KEPT or not LEFT_OUT.match(key)}
        return {"UV_HTTP_TIMEOUT": "300", "UV_LOCK_TIMEOUT": "3600"} | kept | {"UV_CACHE_DIR": str(self.cache)}


def die_with_parent() -> None:
    """In the child, before it becomes uv or the probe: what outlived a killed tool would go on writing into the environment.

    Code between fork and exec must not wait for another thread. This is one system call, looked up when the module loads.
    The signal comes when the thread that started the child ends, and that one waits for it.
    """
    _PRCTL(_PR_SET_PDEATHSIG, signal.SIGKILL)


def find_uv(cache: Path, environ: Mapping[str, str]) -> Uv:
    """The uv of this installation, else the one on the path.

    Raises `UvMissing`.
    """
    try:
        from uv import find_uv_bin

        program = find_uv_bin()
    except (ImportError, FileNotFoundError) as error:
        program = shutil.which("uv", path=environ.get("PATH")) or ""
        if not program:
            raise uv_missing("uv", error) from error
    return Uv(Path(program), cache, environ)


def uv_missing(where: str, error: Exception | str) -> UvMissing:
    """The error for a uv that cannot be started, or is too old."""
    return UvMissing(
        f"uv cannot be used: {error}" if isinstance(error, str) else f"uv cannot be started: {error}",
        where=where,
        advice="install it into the environment of bisect: `python -m pip install --upgrade uv`",
    )


def _read_progress(process: subprocess.Popen[str], progress: Callable[[Download], None] | None) -> str:
    """Standard error, whole; its progress lines are passed on as they come."""
    lines: list[str] = []
    sizes: dict[str, int] = {}
    for line in process.stderr or ():
        event = parse_progress(line, sizes)
        if event is None:
            lines.append(line)
        elif progress is not None:
            progress(event)
    return "".join(lines)


def parse_progress(line: str, sizes: dict[str, int]) -> Download | None:
    """A progress line of uv as an event; `sizes` remembers what was announced."""
    if found := _DOWNLOADING.match(line):
        sizes[found["name"]] = int(float(found["size"]) * _UNITS.get(found["unit"], 1))
        return Download(found["name"], sizes[found["name"]], done=False)
    if found := _DOWNLOADED.match(line):
        return Download(found["name"], sizes.get(found["name"]), done=True)
    return None


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)


@contextlib.contextmanager
def _ended_with_us(process: subprocess.Popen[str]) -> Iterator[None]:
    try:
        yield
    finally:
        if process.poll() is None:
            _end(process)
            process.wait()
        if process.stderr is not None:
            process.stderr.close()
