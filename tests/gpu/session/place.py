"""Where everything of a session lies, and what it runs on: taken from the environment once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.spec.model import Spec

ROOT = Path(__file__).resolve().parents[3]

# How torch from a wheelhouse is put over the packages of an interpreter that has other CUDA libraries than it names: its own
# triton and one NCCL and NVSHMEM for all beside it, the other libraries as the base has them.
_BESIDE = ("triton", "nvidia-nccl-cu13==2.30.7", "nvidia-nvshmem-cu13==3.7.2")
_AS_IS = {"as_is": ["nvidia-*", "cuda-*", "setuptools"]} if "as_is" in Spec.model_fields else {}
AS_THEY_ARE_WORDS: tuple[str, ...] = ()
AS_THEY_ARE_KEYS: Mapping[str, object] = {"base": "system", "requires": list(_BESIDE), **_AS_IS}


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
