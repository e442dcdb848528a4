"""The index of failures: which question showed which failure, found by identity, words, name, issue. Kept up when a run ends.

Only the newest report of a question is in it, and one that was cut short takes the place of no finished one. Reports of before
the index are taken in by `fill`, a part at a time, whenever somebody looks something up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text, update

from bisect_tool.store import tables
from bisect_tool.store.database import Database
from bisect_tool.store.found_rows import UNFINISHED, question_of, rows_of
from bisect_tool.store.gathered import in_parts
from bisect_tool.store.records import REVIEW, storable
from bisect_tool.store.service_tables import failure_words, found_failures

AT_ONCE = 50  # reports of before that are taken in in one transaction
INDEXED = 1  # what `runs.found` says of a run that has been looked at


def index_report(connection: Connection, run: str, report: Mapping[str, Any], ended: str) -> None:
    """Take a report in, in the transaction of whoever stores it: `ended` says which of two is newer.

    Something that is no report, as tests store it, is left out.
    """
    connection.execute(update(tables.runs).where(tables.runs.c.id == run).values(found=INDEXED))
    try:
        rows = rows_of(report, run, ended)
        question = question_of(report)
    except (KeyError, TypeError, AttributeError, ValueError):
        return
    _wait_for_others(connection, question)
    if _takes_the_place(connection, question, report, ended):
        _forget(connection, question)
        _add(connection, rows)


def forget_run(connection: Connection, run: str) -> None:
    """Take the report of a run out, in a transaction: another one answers the same question over a longer range."""
    query = select(found_failures.c.question).where(found_failures.c.run == run).limit(1)
    question = connection.execute(query).scalar()
    if question is not None:
        _forget(connection, question)


def fill(database: Database, *, seconds: float, clock: Callable[[], float] = time.monotonic) -> int:
    """Take in reports of before the index, newest first, for about so many `seconds`; how many were taken in.

    It can be ended at any moment: what is left is taken in the next time.
    """
    end, done = clock() + seconds, 0
    while True:
        count = database.write(_fill_part)
        done += count
        if count < AT_ONCE or clock() >= end:
            return done


def unfilled(database: Database) -> int:
    """How many reports are not in the index yet, as far as it is worth counting: up to 1,000."""
    query = select(tables.runs.c.id).where(*_IS_LEFT).limit(1000)
    return database.read(lambda connection: len(connection.execute(query).all()))


_IS_LEFT = (tables.runs.c.found.is_(None), tables.runs.c.outcome != REVIEW)


def _fill_part(connection: Connection) -> int:
    table = tables.runs
    query = select(table.c.id, table.c.report, table.c.ended).where(*_IS_LEFT)
    left = connection.execute(query.order_by(table.c.ended.desc()).limit(AT_ONCE)).all()
    for row in left:
        index_report(connection, row.id, row.report or {}, row.ended or "")
    return len(left)


def _wait_for_others(connection: Connection, question: str) -> None:
    """Two runs of one question may end at once; a file has one writer anyway."""
    if connection.dialect.name == "postgresql":
        number = int(question[:15], 16)
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})


def _takes_the_place(connection: Connection, question: str, report: Mapping[str, Any], ended: str) -> bool:
    """Whether the report counts more than the one that is there: finished ones before others, then the newer."""
    table = found_failures
    query = select(table.c.ended, table.c.finished).where(table.c.question == question).limit(1)
    there = connection.execute(query).first()
    finished = int(report["outcome"] != UNFINISHED)
    return there is None or (finished, ended) >= (there.finished, there.ended)


def _forget(connection: Connection, question: str) -> None:
    query = select(found_failures.c.id, found_failures.c.words).where(found_failures.c.question == question)
    for found, words in connection.execute(query).all():
        for part in in_parts(words.split(" ")):
            gone = delete(failure_words).where(failure_words.c.word.in_(part), failure_words.c.found == found)
            connection.execute(gone)
    connection.execute(delete(found_failures).where(found_failures.c.question == question))


def _add(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    for row in rows:
        words = [word for word in map(storable, row["words"]) if word]
        values = {name: _stored(value) for name, value in row.items()} | {"words": " ".join(words)}
        found = connection.execute(insert(found_failures).values(values).returning(found_failures.c.id)).scalar_one()
        # One order for all, so that no two writers wait for each other.
        postings = [{"word": word, "found": found} for word in sorted(set(words))]
        if postings:
            connection.execute(insert(failure_words), postings)


def _stored(value: Any) -> Any:
    """Texts that every database takes, also inside."""
    if isinstance(value, dict):
        return {name: _stored(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_stored(inner) for inner in value]
    return storable(value)
