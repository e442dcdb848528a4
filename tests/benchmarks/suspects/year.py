"""What the history saves over a year of builds: installs with weights from the ranking of real commits, and without.

``python -m tests.benchmarks.suspects.year --clones FOLDER`` (clones as `owner+name/repo`).

How it was made. Each mined case (`mined.py`) is ranked once more in a longer range, 600 landings that end before the fix, with
the clue that it has: the code of a test. That gives the points of the culprit, and those of about a thousand other commits
of the same months that have nothing to do with it: all of them real. A year is then 366 builds of 1, 6, or 60 commits (60 is
a nightly of torch), each drawn from the points of those others; the culprit comes with one of the builds. Only how commits are
put together is made up: points of commits that land on one day are presumed to have nothing to do with each other.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import fmean, median

from bisect_tool.history.clone import ClonedSource
from bisect_tool.history.clues import collect_clues
from bisect_tool.history.folding import Listed, fold
from bisect_tool.history.likelihood import likelihoods
from bisect_tool.history.suspects import rank
from bisect_tool.search.prior import EVEN
from tests.benchmarks.search.weighted import installs
from tests.benchmarks.suspects.mined import CASES, added_to_tests, landing, spine_of
from tests.benchmarks.suspects.mining import clones

LANDINGS, BUILDS, DRAWS = 600, 366, 2
SIZES = (1, 6, 60)  # commits of a build


@dataclass(frozen=True, slots=True)
class Pointed:
    """Points of the culprit, and of the commits around it. `is_held_out`: not looked at while weights were chosen."""

    culprit: float
    others: tuple[float, ...]
    is_held_out: bool


def pointed_cases(folder: Path) -> Iterator[Pointed]:
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    for name, source in clones(folder):
        own = [row for row in rows if row["repository"] == name]
        spine = spine_of(source) if own else []
        for row in own:
            yield _pointed(source, spine, row)


def _pointed(source: ClonedSource, spine: list[str], row: Mapping[str, str]) -> Pointed:
    landed = landing(source, spine, row["culprit"])
    at = spine.index(landed)
    last = max(at, min(spine.index(landing(source, spine, row["fix"])) - 1, at + LANDINGS // 2))
    commits = source.commits(spine[max(0, min(last - LANDINGS, at - 1))], spine[last]).commits
    listed = fold(commits, source.files([commit.sha for commit in commits]).known)
    right = {commit.sha for commit in source.commits(source.commit(landed).parents[0], landed).commits}
    ranking = rank(listed, collect_clues(script=added_to_tests(source, row["fix"])))
    points = {suspect.entry.sha: suspect.points for suspect in ranking.suspects}
    others = (points.get(entry.sha, 0.0) for entry in listed if _counts(entry) and entry.sha not in right)
    is_held_out = "fresh" in row or int(row["culprit"][8:10], 16) % 2 == 1
    return Pointed(max(points.get(sha, 0.0) for sha in right), tuple(others), is_held_out)


def _counts(entry: Listed) -> bool:
    return entry.stands and not entry.commit.is_merge


def year(case: Pointed, size: int, seed: int) -> tuple[int, list[list[float]]]:
    """(the culprit's build, the points of the commits of each build)."""
    rng = random.Random(seed)
    builds = [rng.choices(case.others, k=size) for _ in range(BUILDS)]
    at = rng.randrange(1, BUILDS)
    builds[at][0] = case.culprit
    return at, builds


def by_sums(builds: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Weights as they were before `likelihoods`: points added up."""
    return tuple(map(sum, builds))


def by_likelihood(builds: Sequence[Sequence[float]]) -> tuple[float, ...]:
    points = {f"{build} {at}": one for build, row in enumerate(builds) for at, one in enumerate(row) if one > 0}
    likely = likelihoods(points, sum(map(len, builds)))
    return tuple(sum(likely.get(f"{build} {at}", 0.0) for at in range(len(row))) for build, row in enumerate(builds))


def bits_left(at: int, weights: Sequence[float]) -> float:
    """How much there is to learn about the place by probes, in bits: the fewest probes on average of any search."""
    total, places = sum(weights[1:]), len(weights) - 1
    return -log2(EVEN / places + (1 - EVEN) * weights[at] / total) if total else log2(places)


def table(cases: Sequence[Pointed]) -> Iterator[str]:
    yield f"Commits ranked for a case: median {median(len(case.others) for case in cases):.0f}\n"
    yield "| cases | commits a build | without | points added up | share | likelihoods | share | bits left, of 8.5 |"
    yield "|---|---|---|---|---|---|---|---|"
    for is_held_out, size in ((held, size) for held in (False, True) for size in SIZES):
        own = [case for case in cases if case.is_held_out is is_held_out]
        years = [year(case, size, 1000 * draw + number) for number, case in enumerate(own) for draw in range(DRAWS)]
        without = fmean(installs(at, (1.0,) * BUILDS, used=False) for at, _ in years)
        sums = fmean(installs(at, by_sums(builds), used=True) for at, builds in years)
        weighed = [(at, by_likelihood(builds)) for at, builds in years]
        likely = fmean(installs(at, weights, used=True) for at, weights in weighed)
        left = fmean(bits_left(at, weights) for at, weights in weighed)
        name = f"{len(own)} {'held out' if is_held_out else 'looked at'}"
        saved = f"{sums:.1f} | {sums / without:.2f} | {likely:.1f} | {likely / without:.2f}"
        yield f"| {name} | {size} | {without:.1f} | {saved} | {left:.1f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.suspects.year")
    parser.add_argument("--clones", type=Path, required=True)
    for line in table(list(pointed_cases(parser.parse_args().clones))):
        print(line, flush=True)


if __name__ == "__main__":
    main()
