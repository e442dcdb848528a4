from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.rig.index import Index, serve
from tests.rig.toy import ToyBuild, day, toy_package, toy_script

PROGRAM = (sys.executable, "-m", "bisect_tool")


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished `bisect`: its exit status and what it printed."""

    status: int
    out: str
    err: str


@dataclass(slots=True)
class Place:
    """A folder with a cache, a spec folder and an index, in which `bisect` is run as a user would."""

    root: Path
    index: Index
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def specs(self) -> Path:
        return self.root / "specs"

    def command(self, *words: str | Path) -> list[str]:
        return [*PROGRAM, *map(str, words)]

    def environ(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("UV_", "PIP_", "BISECT_"))}
        own = {
            "BISECT_CACHE": str(self.cache),
            "BISECT_INDEX": self.index.url,
            # Nothing here may reach GitHub: the API is asked at an address where nobody answers, unless a test serves one.
            "BISECT_GITHUB_API": "http://127.0.0.1:9",
            "HOME": str(self.root),
            "COLUMNS": "100",
        }
        return {**kept, **own, **self.extra}

    def run(self, *words: str | Path, timeout: float = 900, environ: Mapping[str, str] | None = None) -> Ran:
        done = subprocess.run(
            self.command(*words), capture_output=True, text=True, timeout=timeout, cwd=self.root,
            env={**self.environ(), **(environ or {})}, check=False,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.root,
            env=self.environ(), start_new_session=True,
        )  # fmt: skip

    def answer(self, *words: str | Path, status: int = 0) -> dict[str, Any]:
        """Run and read the JSON report."""
        path = self.root / "answer.json"
        path.unlink(missing_ok=True)
        ran = self.run(*words, "--json", path)
        assert ran.status == status, ran.err + ran.out
        return dict(json.loads(path.read_text()))

    def publish(self, history: Sequence[ToyBuild], package: str = "toy", module: str | None = None) -> None:
        toy_package(self.index.folder, package, history, module=module)

    def spec(self, name: str = "toy-spec", *, script: str | None = None, **keys: Any) -> Path:
        """Write a spec with its repro; JSON is YAML."""
        folder = self.specs / name
        folder.mkdir(parents=True, exist_ok=True)
        if script is None:
            toy_script(folder)
        else:
            (folder / "repro.py").write_text(script)
        base = {
            "flaky": "no",
            "name": name,
            "package": "toy",
            "channel": "release",
            "device": "cpu",
            "script": "repro.py",
            "timeout": 60,
        }
        given = {key.rstrip("_"): value for key, value in keys.items()}
        path = folder / "spec.yaml"
        path.write_text(json.dumps({**base, **given}))
        return path


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL to the tool alone, as the kernel would."""
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def history(count: int, behaviour: Mapping[int, Mapping[str, Any]], **changes: Mapping[int, Any]) -> list[ToyBuild]:
    """`count` builds 1.0, 1.1 …; `behaviour` by number; other fields by name and number."""
    return [
        ToyBuild(
            f"1.{number}",
            behaviour.get(number, {}),
            uploaded=day(number + 1),
            **{key: values[number] for key, values in changes.items() if number in values},
        )
        for number in range(count)
    ]


def failing(
    numbers: Sequence[int], text: str = "RuntimeError: gradient is all zero", case: str = "main"
) -> dict[int, Any]:
    return {number: {case: text} for number in numbers}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with serve(wheels) as index:
        yield Place(tmp_path, index)
