"""What each trait of a commit says about whether it is the culprit, learned from the mined cases (`history/likelihood.py`).

``python -m tests.benchmarks.suspects.learning --clones FOLDER`` prints the terms, and how many bits are left to learn about the
culprit among about a thousand commits on projects that they were not learned from: each project is left out in turn.

The culprit is taken to be a commit with a chance in proportion to the exponential of its terms times its traits (McFadden's
conditional logit); a part of the chance is spread evenly, for failures that nothing points to. The likeliest terms are looked
for, less a small penalty on their squares, so that no case makes one of them large by itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy.optimize import minimize

from bisect_tool.history.likelihood import Traits, weights_of

BLIND = 0.15  # the part of the chance that is spread evenly while learning
PENALTY = 0.01
FIRST = 0.3  # of every term, before anything is learned
UNLEARNED = "place"  # no mined case has a traceback: it is taken to be worth a word of a title


@dataclass(frozen=True, slots=True)
class Labelled:
    """The traits of the commits of one range, the culprit's first."""

    repository: str
    traits: tuple[Traits, ...]


def learned(cases: Sequence[Labelled]) -> Traits:
    """The likeliest terms."""
    rows = [np.array(case.traits) for case in cases]

    def loss(terms: np.ndarray) -> tuple[float, np.ndarray]:
        losses, slopes = zip(*(_loss(row, terms) for row in rows), strict=True)
        return fmean(losses) + PENALTY * float(terms @ terms), np.mean(slopes, axis=0) + 2 * PENALTY * terms

    found = minimize(loss, np.full(len(Traits._fields), FIRST), jac=True, method="L-BFGS-B").x
    terms = Traits(*map(float, found))
    return terms._replace(**{UNLEARNED: terms.title})


def _loss(row: np.ndarray, terms: np.ndarray) -> tuple[float, np.ndarray]:
    """The bits left about the culprit, and how they change with each term."""
    scores = row @ terms
    weights = np.exp(scores - scores.max())
    chances = weights / weights.sum()
    mixed = (1 - BLIND) * chances[0] + BLIND / len(row)
    slope = (1 - BLIND) * chances[0] * (row[0] - chances @ row)
    return -log2(mixed), -slope / mixed / np.log(2)


def terms_without(cases: Sequence[Labelled]) -> dict[str, Traits]:
    """The terms that are learned from the other projects, for each one."""
    names = sorted({case.repository for case in cases})
    return {name: learned([case for case in cases if case.repository != name]) for name in names}


def bits_left(case: Labelled, terms: Traits, even: float) -> float:
    """About the culprit, when `even` of the weight is spread evenly."""
    weights = weights_of({str(number): one for number, one in enumerate(case.traits)}, terms)
    return -log2((1 - even) * weights["0"] / sum(weights.values()) + even / len(weights))


def main() -> None:
    """Print the terms and what they leave."""
    from bisect_tool.search.prior import EVEN
    from tests.benchmarks.suspects.year import labelled_cases  # it imports this module

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.suspects.learning")
    parser.add_argument("--clones", type=Path, required=True)
    cases = [case.labelled for case in labelled_cases(parser.parse_args().clones)]
    print(learned(cases))
    apart = terms_without(cases)
    left = fmean(bits_left(case, apart[case.repository], EVEN) for case in cases)
    print(f"bits left, of {fmean(log2(len(case.traits)) for case in cases):.2f}: {left:.2f}")


if __name__ == "__main__":
    main()
