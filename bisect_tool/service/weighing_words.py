"""The failures that share the most telling words with a text: a word weighs more the fewer failures have it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from bisect_tool.store.found_asking import Asker, FoundRow, count_about, having_all, postings, rows_with

READ = 32  # of the failures with a word, the newest that are looked at
LEAST = 0.34  # of the weight of a text's words that a failure must have
_SCANNED = 10_000  # failures that are looked through where every word is a common one, for all texts together
_LOOKED_AT = 6  # failures of a text whose words are all compared

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Near:
    """A failure that shares words; `score` is the share of the weight, 0 to 1."""

    id: int
    score: float


def nearest(asker: Asker, texts: Sequence[Words], most: int) -> tuple[dict[Words, list[Near]], dict[int, FoundRow]]:
    """For each text of words the nearest failures, best first; and the rows of all of them."""
    every = dict.fromkeys(texts)
    lists = postings(asker, [word for words in every for word in words], READ)
    total = count_about(asker) if every else 0
    weights = {word: _weight(len(found), total) for word, found in lists.items()}
    chosen = {words: _candidates(words, lists, weights) for words in every}
    vague = [words for words, ids in chosen.items() if not ids]
    for words in vague:
        chosen[words] = _with_all(asker, words, lists, _SCANNED // len(vague))
    rows = rows_with(asker, (number for ids in chosen.values() for number in ids))
    return {words: _ranked(words, ids, rows, weights, total)[:most] for words, ids in chosen.items()}, rows


def _weight(count: int, total: int) -> float:
    """Of a word that `count` of `total` failures have; those that many have weigh little, and alike."""
    return log(1 + total / count) if count < READ else log(1 + total / max(READ, total / 4))


def _candidates(words: Words, lists: Mapping[str, list[int]], weights: Mapping[str, float]) -> list[int]:
    """The failures with most of the rare words; none when no word is rare."""
    points: dict[int, float] = defaultdict(float)
    rare = [word for word in words if 0 < len(lists.get(word, ())) < READ]
    for word in words:
        for number in lists.get(word, ()):
            points[number] += weights[word]
    known = {number for word in rare for number in lists[word]}
    return sorted(known, key=lambda number: (-points[number], -number))[:_LOOKED_AT]


def _with_all(asker: Asker, words: Words, lists: Mapping[str, list[int]], scanned: int) -> list[int]:
    """The newest failures that have every word which any failure has; all of these are common."""
    common = [word for word in words if word in lists]
    return having_all(asker, common, scanned, _LOOKED_AT) if common else []


def _ranked(
    words: Words, ids: Sequence[int], rows: Mapping[int, FoundRow], weights: Mapping[str, float], total: int
) -> list[Near]:
    """Those that share enough. A word that no failure has counts as the rarest there can be."""
    unknown = log(2 + total)
    whole = sum(weights.get(word, unknown) for word in words)
    shares = (Near(one, _shared(words, rows[one], weights) / whole) for one in ids if one in rows)
    return sorted((one for one in shares if one.score >= LEAST), key=lambda one: (-one.score, -one.id))


def _shared(words: Words, row: FoundRow, weights: Mapping[str, float]) -> float:
    own = set(row.words.split(" "))
    return sum(weights[word] for word in words if word in own and word in weights)
