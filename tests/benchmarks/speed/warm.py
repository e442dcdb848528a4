"""How much faster trials are when they are forked from a process that has imported torch. Prints a table.

    python -m tests.benchmarks.speed.warm --programs ENVIRONMENT/bin

The repros are those of `repro_specs/`, one case of each, on the CPU, in the environment of any build of torch.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.trials.judge import judge
from bisect_tool.trials.trial import FinishedTrial, Forking, TrialOrder, run_trial
from bisect_tool.trials.warm import WarmServers

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to start all trials: how long it took from the first to the last (seconds), and what each came to."""

    name: str
    seconds: float
    inside: float
    forked: int
    verdicts: tuple[str, ...]


def orders(backend: str) -> list[TrialOrder]:
    """One case of every repro of this repository."""
    scripts = sorted((ROOT / "repro_specs").glob("*/repro.py"))
    words = ("python", "repro.py", "--backend", backend)
    return [TrialOrder((("repro.py", path.read_bytes()),), words, {}, 600, "cpu") for path in scripts]


def run_all(
    name: str, asked: list[TrialOrder], repeats: int, programs: Path, ahead: Callable[[], Forking | None]
) -> Way:
    """Run every order `repeats` times, case after case as a run does."""
    with tempfile.TemporaryDirectory() as folder:
        started, done = time.monotonic(), list[FinishedTrial]()
        for _ in range(repeats):
            done += [
                run_trial(
                    order,
                    programs=programs,
                    folder=Path(folder) / f"{len(done)}-{number}",
                    environ=os.environ,
                    ahead=ahead(),
                )
                for number, order in enumerate(asked)
            ]
        seconds = time.monotonic() - started
    seen = [one.observation for one in done]
    verdicts = tuple(str(judge(one, [])) for one in seen)
    return Way(name, seconds, sum(one.duration for one in seen), sum(one.warm for one in seen), verdicts)


def measure(asked: list[TrialOrder], repeats: int, programs: Path) -> list[Way]:
    """Fresh starts, forks of one process, and forks that are independent of each other."""
    ways = [run_all("fresh start each", asked, repeats, programs, lambda: None)]
    for name, independent in (("one process forked for all", False), ("repeats from different processes", True)):
        with tempfile.TemporaryDirectory() as scratch, WarmServers(programs, Path(scratch)) as servers:
            ahead = Forking(servers, independent=independent, tell=print)
            ways.append(run_all(name, asked, repeats, programs, lambda ahead=ahead: ahead))  # type: ignore[misc]
    return ways


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--programs", type=Path, required=True, help="the folder with `python` of an environment with torch"
    )
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--backend", default="eager")
    options = parser.parse_args()
    say = "import torch; print(torch.__version__)"
    version = subprocess.run(
        [options.programs / "python", "-c", say], capture_output=True, text=True, check=True
    ).stdout.strip()
    asked = orders(options.backend)
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"torch {version}, {platform.processor() or platform.machine()}, {cores} cores, load {load:.1f} before")
    print(f"{len(asked)} cases ({options.backend}) x {options.repeats} repeats on one build\n")
    ways = measure(asked, options.repeats, options.programs.absolute())
    print("| how trials start | seconds | per trial | forked | ratio | same verdicts |\n|---|---|---|---|---|---|")
    for way in ways:
        trials, same = len(way.verdicts), way.verdicts == ways[0].verdicts
        ratio = f"{ways[0].seconds / way.seconds:.1f}x"
        print(
            f"| {way.name} | {way.seconds:.1f} | {way.seconds / trials:.2f} | {way.forked} of {trials} | {ratio} | {same} |"
        )


if __name__ == "__main__":
    main()
