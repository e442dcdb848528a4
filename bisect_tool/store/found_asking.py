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
KEYS = frozenset({"repro", "identity", "spec", "issue", "package"})


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


def newest_of(asker: Asker, column: str, keys: Collection[str], most: int) -> dict[str, list[FoundRow]]:
    """The newest rows of each key of `column`, one of `KEYS`."""
    if column not in KEYS:
        raise ValueError(column)
    found: dict[str, list[FoundRow]] = defaultdict(list)
    for row in _newest(asker, ("found_failures", column, _COLUMNS, "id"), keys, most):
        found[row[0]].append(_row(row[1:]))
    return found


def postings(asker: Asker, words: Collection[str], most: int) -> dict[str, list[int]]:
    """The ids of the newest rows with each word, newest first; a word that no row has is not in it."""
    found: dict[str, list[int]] = defaultdict(list)
    for word, number in _newest(asker, ("failure_words", "word", "found", "found"), words, most):
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
    return not asker.ask("SELECT 1 FROM runs WHERE found IS NULL AND outcome IS NOT NULL LIMIT 1", {})


def _newest(asker: Asker, what: tuple[str, str, str, str], keys: Collection[str], most: int) -> Iterator[Sequence[Any]]:
    """For each key its newest rows, each behind the key; `what` is table, column of the key, columns, column of the order."""
    table, column, columns, order = what
    for part in _parts([key for key in dict.fromkeys(keys) if "\0" not in key], PART if asker.is_server else ARMS):
        inner = f"FROM {table} WHERE {column} = {{key}} ORDER BY {order} DESC LIMIT {most:d}"
        values: dict[str, object]
        if asker.is_server:
            values = {"keys": list(part)}
            arm = inner.format(key="w.key")
            every = "unnest(CAST(:keys AS text[])) AS w(key)"
            sql = f"SELECT w.key, p.* FROM {every} CROSS JOIN LATERAL (SELECT {columns} {arm}) p"  # noqa: S608
        else:
            values = {f"k{number}": key for number, key in enumerate(part)}
            arms = (f"SELECT {column}, {columns} {inner.format(key=f':{name}')}" for name in values)
            sql = " UNION ALL ".join(f"SELECT * FROM ({arm})" for arm in arms)  # noqa: S608
        yield from asker.ask(sql, values)


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
