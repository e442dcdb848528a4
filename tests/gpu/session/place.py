"""Where everything of a session lies, and what it runs on: taken from the environment once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# How builds from a wheelhouse are put over the packages of an interpreter that has older CUDA libraries than they name: kept
# here alone, as words of `bisect run` and as keys of the spec.
AS_THEY_ARE_WORDS: tuple[str, ...] = ()
AS_THEY_ARE_KEYS: Mapping[str, object] = {"base": "system"}


@dataclass(frozen=True, slots=True)
class Place:
    """`home` stays between calls, `out` takes the results, `wheels` are brought along, `python` has torch."""

    home: Path
    out: Path
    wheels: Path
    python: str
    device: str

    @property
    def cache(self) -> Path:
        """The cache of bisect."""
        return self.home / "cache"

    @property
    def logs(self) -> Path:
        """One file for each job."""
        return self.home / "logs"

    @property
    def reports(self) -> Path:
        """Reports of runs, JSON and Markdown, and what other jobs measured."""
        return self.home / "reports"

    @property
    def specs(self) -> Path:
        """The specs as they run here."""
        return self.home / "specs"

    def made(self) -> Place:
        """The same, its folders made."""
        for folder in (self.home, self.out, self.cache, self.logs, self.reports, self.specs):
            folder.mkdir(parents=True, exist_ok=True)
        return self

    def bisect(self, *words: str) -> list[str]:
        """A command line of the tool with this session's cache."""
        return [sys.executable, "-m", "bisect_tool", *words, "--cache", str(self.cache)]


def place_in(environ: Mapping[str, str], device: str) -> Place:
    """What `tests/gpu/run` has put into the environment. Raises `KeyError` for what is missing."""
    return Place(
        Path(environ["BISECT_GPU_HOME"]).absolute(),
        Path(environ["OUT"]).absolute(),
        Path(environ["WHEELS"]).absolute(),
        environ["BISECT_GPU_PYTHON"],
        device,
    )
