"""How likely each commit of a range is the culprit, before any build is probed. Pure.

The points of `suspects` make an order and give reasons; they are no chances. Here every commit gets a weight: the exponential
of what its traits add up to, so that the culprit is one of the commits with the chance weight / sum of all weights. What each
trait adds (`TERMS`) was learned from mined regressions (`tests/benchmarks/suspects/learning.py`, which also says how well it
does on projects that it was not learned from). They have no tracebacks: a file of a traceback is taken to say as much as a word
of the repro in a title that is as rare. No commit that may be the culprit has weight 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from bisect_tool.history.clues import Clues
from bisect_tool.history.folding import Listed
from bisect_tool.history.parts import Part, parts_of
from bisect_tool.history.suspects import WEIGHTS, Rarity, asked_among, reasons_but_words
from bisect_tool.history.words import words_of, words_of_paths

MANY_FILES = 10  # beyond this a commit names so many paths that one of them says less
LONG_BODY = 150  # words; the same for descriptions


class Traits(NamedTuple):
    """What speaks for a commit. A word of the failure or the repro counts with its rarity: log(commits / those that have it).

    `title`: of the rarest such word in its title, `second`: of the next; `path`: in the names of its files; `body`: in its
    description. `place`: what else points to it, such as a file of the traceback, in the same measure. `size`: log of the
    files that it touches. `inert`: 1 when it touches nothing that is installed.
    """

    title: float
    second: float
    path: float
    body: float
    place: float
    size: float
    inert: float


TERMS = Traits(title=0.67, second=0.43, path=0.63, body=0.33, place=0.67, size=0.95, inert=-1.98)


def likelihoods(listed: Sequence[Listed], clues: Clues, terms: Traits = TERMS) -> dict[str, float]:
    """The weight of each commit that may be the culprit, by hash; the largest is 1."""
    return weights_of(traits_among(listed, clues), terms)


def weights_of(traits: Mapping[str, Traits], terms: Traits) -> dict[str, float]:
    """The same from what speaks for each commit."""
    scores = {sha: sum(map(float.__mul__, terms, own)) for sha, own in traits.items()}
    highest = max(scores.values(), default=0.0)
    return {sha: math.exp(score - highest) for sha, score in scores.items()}


def traits_among(listed: Sequence[Listed], clues: Clues) -> dict[str, Traits]:
    """What speaks for each commit of a range that may be the culprit."""
    asked, _ = asked_among(listed, clues)
    rarity = Rarity.among(asked)
    sought = _words_of(clues)
    return {entry.sha: _traits(entry, clues, sought, rarity) for entry in asked}


def _words_of(clues: Clues) -> frozenset[str]:
    functions = (words_of(frame.function) for frame in clues.frames[-2:])
    return frozenset().union(clues.message, clues.repro, clues.keys, clues.passes, *functions)


def _traits(entry: Listed, clues: Clues, sought: frozenset[str], rarity: Rarity) -> Traits:
    files = entry.files or ()
    body = words_of(entry.commit.body)
    title = _rarest(words_of(entry.told.title) & sought, rarity)
    path = _rarest(words_of_paths(file.path for file in files) & sought, rarity)
    told = _rarest(body & sought, rarity)
    return Traits(
        title=title[0],
        second=title[1],
        path=path[0] / (1 + max(0.0, math.log2(max(1, len(files)) / MANY_FILES))),
        body=told[0] / (1 + len(body) / LONG_BODY),
        place=_place(entry, clues, rarity),
        size=math.log1p(len(files)),
        inert=float(bool(files) and parts_of(files) == {Part.INERT}),
    )


def _rarest(words: Iterable[str], rarity: Rarity) -> tuple[float, float]:
    """The rarity of the two rarest of some words, 0 where there is none."""
    found = sorted((rarity.log_of_word(word) for word in words), reverse=True)
    return (*found, 0.0, 0.0)[0], (*found, 0.0, 0.0)[1]


def _place(entry: Listed, clues: Clues, rarity: Rarity) -> float:
    points = sum(reason.points for reason in reasons_but_words(entry, clues, rarity, WEIGHTS))
    return points / WEIGHTS.innermost * math.log(rarity.size + 1)
