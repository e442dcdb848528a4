"""`bisect run` as a user starts it, and what its report says about the work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.benchmarks.speed.peers import NoAnswer, one_line
from tests.benchmarks.speed.settings import FIRST, LAST, VARIANT
from tests.benchmarks.speed.stage import Stage, environ

ANSWERED = {0, 3}
NOBODY = "http://127.0.0.1:9"  # commits are read from a clone


@dataclass(frozen=True, slots=True)
class Ours:
    """A finished run: seconds from start to end of the program, and its report as JSON."""

    seconds: float
    report: dict[str, Any] = field(repr=False)

    @property
    def first_bad(self) -> str | None:
        """The version of the build that it names."""
        found = [episode["appeared"]["first_with"] for one in self.report["failures"] for episode in one["episodes"]]
        return found[0] if len(found) == 1 and self.report["outcome"] == "exact" else None

    @property
    def tested(self) -> dict[str, int]:
        """Trials of each build that its answer rests on, by version."""
        entries = [entry for case in self.report["cases"] for entry in case["timeline"]]
        return {entry["build"]: entry["trials"] for entry in entries if entry["trials"]}

    @property
    def trials(self) -> int:
        """Trials of this run, on whole and on thin builds."""
        return int(self.report["counts"]["trials"]) + int((self.report.get("thin") or {}).get("trials", 0))

    @property
    def time(self) -> dict[str, float] | None:
        """Where its time went, as it says itself."""
        return self.report.get("time")


@dataclass(frozen=True, slots=True)
class Program:
    """The `bisect` of a checkout (this one, or another one's), run with the packages of this interpreter."""

    checkout: Path

    def run(self, stage: Stage, cache: Path, *flags: str, timeout: float) -> Ours:
        """Answer the question of a stage. Raises `NoAnswer` and `subprocess.TimeoutExpired`."""
        answer = stage.folder / "answer.json"
        answer.unlink(missing_ok=True)
        started = time.monotonic()
        status, told = self._call(
            "run", _spec(stage), *flags, "--quiet", "--json", answer, timeout=timeout, stage=stage, cache=cache
        )
        seconds = time.monotonic() - started
        if status not in ANSWERED:
            raise NoAnswer(f"bisect ended with {status}: {one_line(told)}")
        return Ours(seconds, json.loads(answer.read_text()))

    def has(self, flag: str) -> bool:
        """Whether `bisect run` knows a flag."""
        return flag in _help(self.checkout)

    def _call(self, *words: str | Path, timeout: float, stage: Stage, cache: Path) -> tuple[int, str]:
        variables = environ(
            _home(cache),
            BISECT_CACHE=str(cache),
            BISECT_NIGHTLY_INDEX=stage.index.address,
            BISECT_INDEX=stage.index.default_index,
            BISECT_GITHUB_API=NOBODY,
            BISECT_REPO=str(stage.clone),
            PYTHONPATH=str(self.checkout),
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "bisect_tool", *map(str, words)],
            env=variables, cwd=stage.folder, start_new_session=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            told, _ = process.communicate(timeout=timeout)
        finally:
            if process.poll() is None:
                _end(process)
        return process.returncode, told


def _home(cache: Path) -> Path:
    """A home folder that goes with a cache, so that an empty cache is that of a new user."""
    home = cache.with_name(f"{cache.name}-home")
    home.mkdir(exist_ok=True)
    return home


def _end(process: subprocess.Popen[str]) -> None:
    """As Ctrl-C would; what does not end within 30 s is killed, with the processes of its group."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sent)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=30)
            return


@lru_cache
def _help(checkout: Path) -> str:
    variables = {**os.environ, "PYTHONPATH": str(checkout)}
    words = [sys.executable, "-m", "bisect_tool", "run", "--help"]
    return subprocess.run(words, env=variables, cwd=checkout, capture_output=True, text=True, check=True).stdout


def _spec(stage: Stage) -> Path:
    told = {
        "name": "speed", "package": "torch", "channel": "nightly", "variant": VARIANT, "from": FIRST.isoformat(),
        "to": LAST.isoformat(), "device": "cpu", "python": sys.executable, "script": stage.repro.name, "timeout": 600,
    }  # fmt: skip
    path = stage.folder / "spec.yaml"
    path.write_text(json.dumps(told))
    return path
