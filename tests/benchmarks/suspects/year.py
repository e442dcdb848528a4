"""What the history saves over a year of builds: installs with weights from real commits, and without.

``python -m tests.benchmarks.suspects.year --clones FOLDER`` (clones as `owner+name/repo`).

How it was made. Each mined case (`mined.py`) is looked at once more in a longer range, 600 landings that end before the fix,
with the clue that it has: the code of a test. That gives what speaks for the culprit, and for about a thousand other commits
of the same months that have nothing to do with it: all of them real. A year is then 366 builds of 1, 6, or 60 commits (60 is
a nightly of torch), each drawn from those others; the culprit comes with one of the builds. Only how commits are
put together is made up: commits that land on one day are presumed to have nothing to do with each other. What the traits of
a commit say is learned from the other projects for each case (`learning.py`).
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
from bisect_tool.history.folding import fold
from bisect_tool.history.likelihood import Traits, traits_among, weights_of
from bisect_tool.history.suspects import rank
from bisect_tool.search.prior import EVEN
from tests.benchmarks.search.weighted import installs
from tests.benchmarks.suspects.learning import Labelled, terms_without
from tests.benchmarks.suspects.mined import CASES, added_to_tests, landing, spine_of
from tests.benchmarks.suspects.mining import clones

LANDINGS, BUILDS, DRAWS = 600, 366, 2
SIZES = (1, 6, 60)  # commits of a build


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled range. `is_held_out`: not looked at while the points of `suspects` were chosen."""

    labelled: Labelled
    is_held_out: bool


def labelled_cases(folder: Path) -> Iterator[Case]:
    """The mined cases of those projects that have a clone in `folder`."""
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    for name, source in clones(folder):
        own = [row for row in rows if row["repository"] == name]
        spine = spine_of(source) if own else []
        for row in own:
            yield _case(source, spine, row)


def _case(source: ClonedSource, spine: list[str], row: Mapping[str, str]) -> Case:
    landed = landing(source, spine, row["culprit"])
    at = spine.index(landed)
    last = max(at, min(spine.index(landing(source, spine, row["fix"])) - 1, at + LANDINGS // 2))
    commits = source.commits(spine[max(0, min(last - LANDINGS, at - 1))], spine[last]).commits
    listed = fold(commits, source.files([commit.sha for commit in commits]).known)
    right = {commit.sha for commit in source.commits(source.commit(landed).parents[0], landed).commits}
    clues = collect_clues(script=added_to_tests(source, row["fix"]))
    traits, points = traits_among(listed, clues), {one.entry.sha: one.points for one in rank(listed, clues).suspects}
    # Of a pull request with several commits the one that the ranking has first stands for all.
    culprit = max((sha for sha in traits if sha in right), key=lambda sha: points.get(sha, 0.0))
    others = (own for sha, own in traits.items() if sha not in right)
    is_held_out = "fresh" in row or int(row["culprit"][8:10], 16) % 2 == 1
    return Case(Labelled(row["repository"], (traits[culprit], *others)), is_held_out)


def year(case: Case, terms: Traits, size: int, seed: int) -> tuple[int, tuple[float, ...]]:
    """(the culprit's build, the weight of each build)."""
    rng = random.Random(seed)
    weights = weights_of({str(number): one for number, one in enumerate(case.labelled.traits)}, terms)
    others = [weight for number, weight in weights.items() if number != "0"]
    builds = [rng.choices(others, k=size) for _ in range(BUILDS)]
    at = rng.randrange(1, BUILDS)
    builds[at][0] = weights["0"]
    return at, tuple(map(sum, builds))


def bits_left(at: int, weights: Sequence[float]) -> float:
    """How much there is to learn about the place by probes, in bits: the fewest probes on average of any search."""
    return -log2(EVEN / (len(weights) - 1) + (1 - EVEN) * weights[at] / sum(weights[1:]))


def table(cases: Sequence[Case]) -> Iterator[str]:
    """The lines of the table."""
    terms = terms_without([case.labelled for case in cases])
    yield f"Commits of a case: median {median(len(case.labelled.traits) for case in cases):.0f}\n"
    yield "| cases | commits a build | without | with | share | bits left, of 8.5 |"
    yield "|---|---|---|---|---|---|"
    for is_held_out, size in ((held, size) for held in (False, True) for size in SIZES):
        own = [case for case in cases if case.is_held_out is is_held_out]
        years = [
            year(case, terms[case.labelled.repository], size, 1000 * draw + number)
            for number, case in enumerate(own)
            for draw in range(DRAWS)
        ]
        without = fmean(installs(at, (1.0,) * BUILDS, used=False) for at, _ in years)
        led = fmean(installs(at, weights, used=True) for at, weights in years)
        left = fmean(bits_left(at, weights) for at, weights in years)
        name = f"{len(own)} {'held out' if is_held_out else 'looked at'}"
        yield f"| {name} | {size} | {without:.1f} | {led:.1f} | {led / without:.2f} | {left:.1f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.suspects.year")
    parser.add_argument("--clones", type=Path, required=True)
    for line in table(list(labelled_cases(parser.parse_args().clones))):
        print(line, flush=True)


if __name__ == "__main__":
    main()
