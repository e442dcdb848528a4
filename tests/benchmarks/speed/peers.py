"""What people use now: a plain binary search whose steps install a nightly and run the repro.

Each is done as a careful user does it: both ends are looked at first, caches stay between steps, and nightlies are installed by
address, which saves the page. None of them proves which build was imported, verifies the two neighbours again, keeps results or
evidence, tells one failure from another, or leaves out a build that cannot be installed: the first of those ends the search.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

UV = Path(sys.executable).with_name("uv")
FIRST_BAD_TOOL = "bisect-find-first-bad==0.0.4"
MOST_TOLD = 200  # characters
IsBad = Callable[[int], bool]
Search = Callable[[int, IsBad], int]


class Enough(Exception):
    """As many steps as were to be measured are done."""


class NoAnswer(Exception):
    """The search cannot be done, and why."""


def one_line(told: str) -> str:
    """The end of what a program printed, in one line."""
    return " ".join(told.split())[-MOST_TOLD:]


def plain_search(count: int, is_bad: IsBad) -> int:
    """The first bad one of `count`, after a look at both ends. Raises `NoAnswer` when those do not differ as they should."""
    _check_ends(count, is_bad)
    good, bad = 0, count - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if is_bad(middle) else (middle, bad)
    return bad


def tool_search(tool: Any) -> Search:
    """The same by `bisect-find-first-bad`, whose module is `tool`; it looks at no end, so that is done before."""

    def search(count: int, is_bad: IsBad) -> int:
        _check_ends(count, is_bad)
        steps = type("Steps", (tool.BisectFindFirstBad,), {"is_bad": lambda _self, number: is_bad(number)})
        with contextlib.redirect_stdout(io.StringIO()):
            return int(steps(options=range(1, count))())

    return search


def _check_ends(count: int, is_bad: IsBad) -> None:
    if is_bad(0):
        raise NoAnswer("the oldest nightly is bad")
    if not is_bad(count - 1):
        raise NoAnswer("the newest nightly is good")


def count_steps(search: Search, count: int, first_bad: int) -> int:
    """How many steps a search takes when the first bad one is known."""
    steps: list[int] = []

    def is_bad(number: int) -> bool:
        steps.append(number)
        return number >= first_bad

    search(count, is_bad)
    return len(steps)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a peer works: a folder of its own, its environment variables, the index of the dependencies, the deadline.

    `deadline` is a time of `time.monotonic`.
    """

    folder: Path
    environ: Mapping[str, str]
    index: str
    repro: Path
    deadline: float

    def call(self, *words: str | Path, quiet: bool = False) -> int:
        """The exit status of a command. Raises `subprocess.TimeoutExpired`, and `NoAnswer` when it fails unless `quiet`."""
        left = max(0.1, self.deadline - time.monotonic())
        done = subprocess.run(
            [str(word) for word in words],
            cwd=self.folder, env=self.environ, timeout=left, check=False, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode and not quiet:
            raise NoAnswer(f"{Path(words[0]).name} ended with {done.returncode}: {one_line(done.stderr)}")
        return done.returncode


class Installer(Protocol):
    """How a peer gets a nightly: gives the interpreter that has it."""

    def __call__(self, place: Place, address: str, step: int) -> Path: ...


def pip_per_step(place: Place, address: str, step: int) -> Path:
    """A venv for each step, filled by pip."""
    folder = place.folder / f"venv-{step}"
    place.call(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    place.call(python, "-m", "pip", "install", "--quiet", "--index-url", place.index, f"torch @ {address}")
    return python


def uv_per_step(place: Place, address: str, step: int) -> Path:
    """An environment for each step, made and filled by uv."""
    return _uv_install(place, address, place.folder / f"venv-{step}")


def uv_reused(place: Place, address: str, step: int) -> Path:
    """One environment in which uv replaces the nightly, as in the published script for PyTorch's nightlies.

    That script (drisspg/transformer_nuggets, `scripts/bisect_nightly.py`) also installs every dependency anew and asks for the
    commit in a process of its own; both are left out here, in its favour.
    """
    return _uv_install(place, address, place.folder / "venv", make=step == 0)


def _uv_install(place: Place, address: str, folder: Path, *, make: bool = True) -> Path:
    if make:
        place.call(UV, "venv", "--quiet", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    place.call(UV, "pip", "install", "--quiet", "--python", python, "--index-url", place.index, f"torch @ {address}")
    return python


@dataclass(slots=True)
class Steps:
    """The steps of a search over the wheels at `addresses`: at most `most`.

    `seconds` are those of the steps that are done, `bad` says by number which nightlies failed.
    """

    place: Place
    install: Installer
    addresses: Sequence[str]
    most: int
    seconds: list[float] = field(default_factory=list)
    bad: dict[int, bool] = field(default_factory=dict)

    def is_bad(self, number: int) -> bool:
        """Install a nightly and run the repro. Raises `Enough` before a step too many."""
        if len(self.seconds) >= self.most:
            raise Enough
        step = len(self.seconds)
        started = time.monotonic()
        python = self.install(self.place, self.addresses[number], step)
        status = self.place.call(python, self.place.repro, quiet=True)
        self.seconds.append(time.monotonic() - started)
        shutil.rmtree(self.place.folder / f"venv-{step}", ignore_errors=True)  # by hand, some time later: not counted
        self.bad[number] = status != 0
        return status != 0

    def is_right(self, first_bad: int) -> bool:
        """Whether every nightly that was looked at showed what was planted: a search that was cut short names none."""
        return all(bad == (number >= first_bad) for number, bad in self.bad.items())

    def estimate(self, steps: int) -> float:
        """Seconds of a search of so many steps: those that were measured, the others like the mean of all after the first."""
        return extend(self.seconds, steps)


def extend(seconds: Sequence[float], steps: int) -> float:
    """The sum of `steps` seconds of which the first ones are given; the rest are like the mean of those after the first.

    The first one fetches what all of them share. Raises `ValueError` when fewer than two are given and more are needed.
    """
    missing = steps - len(seconds)
    if missing <= 0:
        return sum(seconds)
    if len(seconds) < 2:
        raise ValueError("one step does not tell how long the others take")
    return sum(seconds) + missing * sum(seconds[1:]) / (len(seconds) - 1)


def fetch_tool(folder: Path) -> Any:
    """The module of `bisect-find-first-bad`, installed into `folder` by uv from the package index.

    Raises `subprocess.CalledProcessError` where it cannot be had.
    """
    words = [UV, "pip", "install", "--quiet", "--target", folder, FIRST_BAD_TOOL]
    subprocess.run(list(map(str, words)), check=True, capture_output=True, env=os.environ, timeout=60)
    spec = importlib.util.spec_from_file_location("bisect_find_first_bad", folder / "bisect_find_first_bad.py")
    if spec is None or spec.loader is None:
        raise NoAnswer(f"{FIRST_BAD_TOOL} has no module of its name")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
