"""A place where uv is made to fail: a folder with a cache, an environment, some wheels and an index over them."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uv

from tests.rig.index import Index
from tests.rig.uv_message import Blame
from tests.rig.wheel_maker import make_wheel

TOY = {"toy.py": "__version__ = '1.0'\n"}
BIG_MODULE = {"toy.py": "x = 1\n", "toy_ballast.py": "# " + "ballast " * 1_000_000}


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished run of uv, with the machine's paths already replaced."""

    command: str
    status: int
    stdout: str
    stderr: str


@dataclass(slots=True)
class Stage:
    """`environment` is a ready virtual environment, `extra` holds variables for uv."""

    root: Path
    index: Index
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def wheels(self) -> Path:
        return self.index.folder

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def environment(self) -> Path:
        return self.root / "environment"

    def toy(self, version: str = "1.0", **options: object) -> Path:
        """Put a wheel of `toy` into the index; the options are those of `make_wheel`."""
        return make_wheel(self.wheels, "toy", version, **({"modules": TOY} | options))  # type: ignore[arg-type]

    def venv(self, *options: str, python: str = sys.executable) -> Ran:
        """``uv venv``; `python` is what ``--python`` gets."""
        return self.uv("venv", "--python", python, "--cache-dir", str(self.cache), *options, str(self.environment))

    def install(
        self,
        *requirements: str,
        options: Sequence[str] = (),
        url: str | None = None,
        cache: Path | None = None,
        environment: Path | None = None,
        prefix: Sequence[str] = (),
    ) -> Ran:
        """``uv pip install`` into the environment; `prefix` is a command that starts uv under limits."""
        where = ("--python", str(environment or self.environment), "--cache-dir", str(cache or self.cache))
        source = ("--default-index", url or self.index.url)
        return self.uv("pip", "install", *where, *source, *options, *requirements, prefix=prefix)

    def uv(self, *arguments: str, prefix: Sequence[str] = ()) -> Ran:
        """Run uv as the tool does: no configuration, no colour, no progress bars."""
        command = [*prefix, uv.find_uv_bin(), *arguments, "--no-config", "--color", "never", "--no-progress"]
        if "--config-file" in arguments:
            command.remove("--no-config")
        done = subprocess.run(command, env=self._variables(), capture_output=True, check=False, timeout=120)
        shown = [f"{key}={value}" for key, value in self.extra.items()] + command
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        return Ran(self.scrubbed(" ".join(shown)), done.returncode, self.scrubbed(out), self.scrubbed(err))

    def _variables(self) -> Mapping[str, str]:
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        return {**kept, "HOME": str(self.root), "UV_PYTHON_DOWNLOADS": "never", **self.extra}

    def scrubbed(self, text: str) -> str:
        """Without paths, ports, times and temporary names of this machine."""
        for path, name in ((str(self.root), "STAGE"), (uv.find_uv_bin(), "UV"), (sys.executable, "PYTHON")):
            text = text.replace(path, name)
        text = text.replace(os.path.realpath(sys.executable), "PYTHON").replace(sys.prefix, "PYTHON-PREFIX")
        text = re.sub(r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT", text)
        text = re.sub(r"thread '(\S+)' \(\d+\)", r"thread '\1' (1)", text)
        text = re.sub(r"\.tmp\w{6}", ".tmpXXXXXX", text)
        return re.sub(r"\d+(\.\d+)?(ms|s)\b", "1ms", text)

    @contextlib.contextmanager
    def small_disk(self, name: str, options: str) -> Iterator[Path]:
        """A file system in memory, mounted with these options; needs root.

        Raises `subprocess.CalledProcessError` where mounting is not allowed.
        """
        folder = self.root / name
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True, capture_output=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@dataclass(frozen=True, slots=True)
class Situation:
    """One way to make uv fail."""

    name: str
    text: str
    blame: Blame
    provoke: Callable[[Stage], Ran]


SITUATIONS: dict[str, Situation] = {}


def situation(blame: Blame, text: str) -> Callable[[Callable[[Stage], Ran]], Callable[[Stage], Ran]]:
    """Register a function as a situation; its name becomes the name of the file."""

    def register(provoke: Callable[[Stage], Ran]) -> Callable[[Stage], Ran]:
        name = provoke.__name__.replace("_", "-")
        SITUATIONS[name] = Situation(name, text, blame, provoke)
        return provoke

    return register
