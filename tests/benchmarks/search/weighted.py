"""What a history saves: a made-up history of 366 builds, weights from it, and the installs with and without them.

The history: every build brings 15 to 75 commits (weekends few). A commit touches one file and, with a chance of 0.7 each,
more; 7 of 10 of these lie in the same folder. How often a file is touched falls with its rank to the power 0.6, over
10,000 files in folders of 40, so that the busiest are touched by several builds a week and the median by a handful a year.

The failure: one commit of one build is the culprit. With a chance of `related` its own file is among the eight files of the
traceback, the innermost with a chance of one half, the next with a quarter, and so on; the other files are those of its
folder and busy ones. Otherwise the traceback has nothing to do with it, as with a change of a binary or a setting.

The weights: for each commit how much likelier the culprit touches just these files of the traceback than any commit does,
with the chances above; the commits of a build add up. Nobody looks at the culprit for it.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from statistics import fmean

from bisect_tool.search.knowledge import Question
from tests.rig.histories import stepwise
from tests.search.searching import UNVERIFIED, Search

BUILDS, FILES, FOLDER, FRAMES = 366, 10_000, 40, 8
_BUSY = list(accumulate((rank + 3) ** -0.6 for rank in range(FILES)))
_PLACES = random.Random(1).sample(range(FILES), FILES)  # which file lies where: busy ones are spread over the folders
_PLACE_OF = {file: place for place, file in enumerate(_PLACES)}


Commit = tuple[int, ...]  # the files that it touches, its own first


@dataclass(frozen=True, slots=True)
class Regression:
    """The culprit came with build `at`; `commits` has the files of each commit by build; `traceback` innermost first."""

    at: int
    commits: tuple[tuple[Commit, ...], ...]
    traceback: tuple[int, ...]


def busy_file(rng: random.Random) -> int:
    return bisect_left(_BUSY, rng.random() * _BUSY[-1])


def neighbour(rng: random.Random, file: int) -> int:
    return _PLACES[_PLACE_OF[file] // FOLDER * FOLDER + rng.randrange(FOLDER)]


def commit(rng: random.Random) -> Commit:
    file = busy_file(rng)
    files = [file]
    while rng.random() < 0.7:
        files.append(neighbour(rng, file) if rng.random() < 0.7 else busy_file(rng))
    return tuple(dict.fromkeys(files))


def regression(rng: random.Random, related: float) -> Regression:
    commits = tuple(tuple(commit(rng) for _ in range(rng.choice((15, 60, 70, 75)))) for _ in range(BUILDS))
    at = rng.randrange(1, BUILDS)
    culprit = rng.choice(commits[at])[0]
    frames: list[int] = []
    seat = (
        min(FRAMES - 1, next(number for number in range(64) if rng.random() < 0.5)) if rng.random() < related else None
    )
    near = culprit if seat is not None else busy_file(rng)
    while len(frames) < FRAMES:
        file = neighbour(rng, near) if rng.random() < 0.5 else busy_file(rng)
        if len(frames) == seat:
            frames.append(culprit)
        elif file not in frames and file != culprit:
            frames.append(file)
    return Regression(at, commits, tuple(frames))


def weights_of(found: Regression) -> tuple[float, ...]:
    commits = [files for of_build in found.commits for files in of_build]
    touched = Counter(file for files in commits for file in files)
    ratios = {}
    for seat, file in enumerate(found.traceback):
        usual, culprit = (touched[file] + 0.5) / len(commits), 0.85 * 0.5 ** (seat + 1) + 0.02
        ratios[file] = (culprit / usual, (1 - culprit) / (1 - usual))
    none = prod(without for _, without in ratios.values())

    def ratio(files: Commit) -> float:
        hits = [ratios[file] for file in files if file in ratios]
        return none * prod(has / without for has, without in hits)

    return tuple(sum(map(ratio, of_build)) for of_build in found.commits)


def ranked(rng: random.Random, size: int, shares: Sequence[tuple[int, float]]) -> tuple[int, tuple[float, ...]]:
    """Where the culprit is, and weights as they follow from a ranking of builds: (place up to which, share of culprits)."""
    order = rng.sample(range(1, size), size - 1)
    weights, at, drawn, first = [0.0] * size, 0, rng.random(), 0
    for place, share in shares:
        for build in order[first:place]:
            weights[build] = share / (place - first)
        if not at and drawn < share:
            at = order[rng.randrange(first, place)]
        drawn, first = drawn - share, place
    return at or order[-1], tuple(weights)


def installs(at: int, weights: tuple[float, ...], *, used: bool) -> int:
    size = len(weights)
    history = stepwise([(at, "pass"), (size - at, frozenset({"A"}))])
    run = Search(history, Question(size, ("main",), weights=weights if used else None), UNVERIFIED)
    assert run.run().boundaries() == ((at - 1, at),)
    return len(run.installed)


def made(related: float) -> list[tuple[int, tuple[float, ...]]]:
    regressions = (regression(random.Random(seed), related) for seed in range(60))
    return [(one.at, weights_of(one)) for one in regressions]


MEASURED = (
    (1, 0.48),
    (5, 0.26),
    (151, 0.26),
)  # docs/history.md, the held-out cases: first, among the first five, later
SHARP = ((3, 0.9), (365, 0.1))


def main() -> None:
    """Print the table."""
    print("One change, with weights from a history (tests/benchmarks/search/weighted.py)\n")
    print("| the history | builds | installs without | with | share | most with |")
    print("|---|---|---|---|---|---|")
    for name, found in (
        ("made up; 85 % of the culprits touch a file of the traceback", made(0.85)),
        ("made up; none does, the weights mislead", made(0.0)),
        ("a build for each commit, ranked as measured", [ranked(random.Random(n), 152, MEASURED) for n in range(200)]),
        (
            "the culprit's build is one of three, 9 times of 10",
            [ranked(random.Random(n), 366, SHARP) for n in range(200)],
        ),
    ):
        without = fmean(installs(at, weights, used=False) for at, weights in found)
        counts = [installs(at, weights, used=True) for at, weights in found]
        share = fmean(counts) / without
        print(f"| {name} | {len(found[0][1])} | {without:.1f} | {fmean(counts):.1f} | {share:.2f} | {max(counts)} |")


if __name__ == "__main__":
    main()
