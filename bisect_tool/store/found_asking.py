"""Asking the index of failures: plain SQL, so that a command that only looks something up need not load more than a driver.

Every question has a bound on what it reads, however many rows have a key: the newest of them are given.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

ARMS = 100  # parts of one compound query; SQLite takes 500
PART = 500  # values of one query

_COLUMNS = (
    "id, question, run, repro, spec, package, device, identity, failure, title, "
    "finished, ended, words, CAST(entry AS TEXT)"
)


class Asker(Protocol):
    """An open database, of PostgreSQL's SQL on a server and of SQLite's in a file."""

    @property
    def is_server(self) -> bool:
        """Whether it is on a server."""

    def ask(self, sql: str, values: Mapping[str, object]) -> Sequence[Sequence[Any]]:
        """The rows of a query with `:name` for values."""


@dataclass(frozen=True, slots=True)
class FoundRow:
    """A failure of the newest report of a question, see `found_rows`; `failure` is empty when it has none."""

    id: int
    question: str
    run: str
    repro: str
    spec: str
    package: str
    device: str
    identity: str
    failure: str
    title: str
    finished: bool
    ended: str
    words: str
    json: str

    @property
    def entry(self) -> dict[str, Any]:
        """What the report says; read only of rows that are shown, because that takes longer than finding them."""
        found: dict[str, Any] = json.loads(self.json)
        return found


def postings(asker: Asker, words: Collection[str], most: int) -> dict[str, list[int]]:
    """The ids of the newest rows with each word, newest first; a word that no row has is not in it."""
    found: dict[str, list[int]] = defaultdict(list)
    for part in _parts([word for word in dict.fromkeys(words) if "\0" not in word], PART if asker.is_server else ARMS):
        for word, number in asker.ask(*_newest(part, most, on_server=asker.is_server)):
            found[word].append(number)
    return found


def having_all(asker: Asker, words: Sequence[str], seen: int, most: int) -> list[int]:
    """Rows that have every one of `words`, of the `seen` newest that have the first one.

    Without a further order, so that both databases stop when there are enough: they go from the newest on.
    """
    first, *others = words
    values = {"w": first, **{f"w{number}": word for number, word in enumerate(others)}}
    rest = "".join(
        f" AND EXISTS (SELECT 1 FROM failure_words o WHERE o.word = :w{number} AND o.found = f.found)"  # noqa: S608
        for number in range(len(others))
    )
    inner = f"SELECT found FROM failure_words WHERE word = :w ORDER BY found DESC LIMIT {seen:d}"  # noqa: S608  a number
    sql = f"SELECT f.found FROM ({inner}) f WHERE 1 = 1{rest} LIMIT {most:d}"  # noqa: S608
    return [row[0] for row in asker.ask(sql, values)]


def rows_with(asker: Asker, ids: Iterable[int]) -> dict[int, FoundRow]:
    """The rows of these ids."""
    found: dict[int, FoundRow] = {}
    for values in in_parts_of(sorted(set(ids))):
        sql = f"SELECT {_COLUMNS} FROM found_failures WHERE id IN ({names_of(values)})"  # noqa: S608  names of ours
        found |= {row[0]: _row(row) for row in asker.ask(sql, values)}
    return found


def questions_of(asker: Asker, runs: Iterable[str]) -> dict[str, str]:
    """The ids under which the service shows the questions that these runs answer."""
    found: dict[str, str] = {}
    for values in in_parts_of(sorted(set(runs))):
        sql = f"SELECT run, id FROM questions WHERE run IN ({names_of(values)})"  # noqa: S608  names of ours
        found |= {row[0]: row[1] for row in asker.ask(sql, values)}
    return found


def count_about(asker: Asker) -> int:
    """About how many rows there are: what weighs a word by how rare it is need not be exact."""
    return int(asker.ask("SELECT max(id) FROM found_failures", {})[0][0] or 0)


def is_filled(asker: Asker) -> bool:
    """Whether every report was taken in."""
    left = (
        "found IS NULL AND outcome IS NOT NULL AND outcome <> 'review'"  # reviews are never taken in: `Results.end_run`
    )
    return not asker.ask(f"SELECT 1 FROM runs WHERE {left} LIMIT 1", {})  # noqa: S608  a text of ours


def _newest(words: Sequence[str], most: int, *, on_server: bool) -> tuple[str, dict[str, object]]:
    """The query for the newest rows of each word, and its values."""
    newest = f"FROM failure_words WHERE word = {{word}} ORDER BY found DESC LIMIT {most:d}"
    if on_server:
        arm = newest.format(word="w.word")
        every = "unnest(CAST(:words AS text[])) AS w(word)"
        sql = f"SELECT w.word, p.found FROM {every} CROSS JOIN LATERAL (SELECT found {arm}) p"  # noqa: S608  no values
        return sql, {"words": list(words)}
    values: dict[str, object] = {f"k{number}": word for number, word in enumerate(words)}
    arms = (f"SELECT word, found {newest.format(word=f':{name}')}" for name in values)
    return " UNION ALL ".join(f"SELECT * FROM ({arm})" for arm in arms), values  # noqa: S608  names of ours


def _row(row: Sequence[Any]) -> FoundRow:
    number, question, run, repro, spec, package, device, identity, failure, title, finished, ended, words, entry = row
    names = question, run, repro, spec, package, device, identity, failure, title
    return FoundRow(number, *names, bool(finished), ended, words, entry)


def names_of(values: Mapping[str, object]) -> str:
    """The names of values as a query has them, for `IN`."""
    return ", ".join(f":{name}" for name in values)


def in_parts_of(values: Sequence[Any]) -> Iterator[dict[str, object]]:
    """The values of one query after the other, by names."""
    for part in _parts(values):
        yield {f"k{number}": one for number, one in enumerate(part)}


def _parts(values: Sequence[Any], size: int = PART) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
