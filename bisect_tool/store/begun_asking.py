"""Asking for questions that were begun and not answered: the record of their search, and the trials since.

Plain SQL, see `found_asking`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bisect_tool.store.found_asking import Asker, in_parts_of, names_of

SHARED = re.compile(r',?"same as": ?"\w*"\}$')  # ends what a run has that shares the record of another one
MOST_LINES = 400  # of one record; a search takes some tens
MOST_TRIALS = 20_000  # of all questions since their runs began
LATE = 1_000  # trials that may have been stored before one that ended earlier: those of hosts whose clocks differ


@dataclass(frozen=True, slots=True)
class BegunRun:
    """A run that has no finished report. `record` are the lines of its search, empty when it never began to search."""

    id: str
    repro: str
    spec: str
    package: str
    started: str
    record: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrialHead:
    """A trial without what it observed."""

    id: int
    repro: str
    case: str
    case_digest: str
    version: str
    setting: str
    device: str
    identity: str
    finished: str


def begun_runs(asker: Asker, repros: Collection[str]) -> list[BegunRun]:
    """The newest run of each repro, where that has no finished report."""
    newest: dict[str, Sequence[Any]] = {}
    for values in in_parts_of(sorted(set(repros))):
        sql = (
            "SELECT repro, id, spec, package, started, outcome FROM runs r "  # noqa: S608  names of ours
            f"WHERE repro IN ({names_of(values)}) AND started = (SELECT max(started) FROM runs o WHERE o.repro = r.repro) "
            "ORDER BY id"
        )
        newest |= {row[0]: row for row in asker.ask(sql, values)}
    begun = [row for row in newest.values() if row[5] in {None, "unfinished"}]
    records = _records(asker, [row[1] for row in begun])
    return [
        BegunRun(run, repro, spec, package, started, tuple(records.get(run, ())))
        for repro, run, spec, package, started, _ in begun
    ]


def trials_since(asker: Asker, started: Mapping[str, str]) -> dict[str, list[TrialHead]]:
    """The trials of each repro since a time of its own, in the order in which they were stored; none when they are too many."""
    if not started:
        return {}
    columns = "id, repro, case_name, case_digest, version, setting, device, identity, finished"
    values: dict[str, object] = {f"k{number}": repro for number, repro in enumerate(started)}
    sql = (
        f"SELECT {columns} FROM trials WHERE repro IN ({names_of(values)}) AND id > :floor "  # noqa: S608  names of ours
        f"ORDER BY id LIMIT {MOST_TRIALS:d}"
    )
    rows = asker.ask(sql, {**values, "floor": _last_before(asker, min(started.values()))})
    found: dict[str, list[TrialHead]] = defaultdict(list)
    for head in (TrialHead(*row) for row in rows) if len(rows) < MOST_TRIALS else ():
        if head.finished >= started[head.repro]:
            found[head.repro].append(head)
    return found


def _last_before(asker: Asker, time: str) -> int:
    """The last trial that ended before `time`, by halves: trials are stored in the order in which they end, but for some."""
    low, high = 0, int(asker.ask("SELECT max(id) FROM trials", {})[0][0] or 0)
    while low < high:
        middle = (low + high + 1) // 2
        sql = "SELECT id, finished FROM trials WHERE id <= :middle ORDER BY id DESC LIMIT 1"
        row = next(iter(asker.ask(sql, {"middle": middle})), None)
        if row is None or row[1] < time:
            low = middle
        else:
            high = int(row[0]) - 1
    return max(0, low - LATE)


def observations(asker: Asker, ids: Iterable[int]) -> dict[int, str]:
    """What trials observed, as JSON."""
    found: dict[int, str] = {}
    for values in in_parts_of(sorted(set(ids))):
        sql = f"SELECT id, CAST(observation AS TEXT) FROM trials WHERE id IN ({names_of(values)})"  # noqa: S608
        found |= {row[0]: row[1] for row in asker.ask(sql, values)}
    return found


def _records(asker: Asker, runs: Sequence[str]) -> dict[str, list[str]]:
    """The lines of each record; one that is kept with another run, because both were searched together, is left out."""
    found: dict[str, list[str]] = defaultdict(list)
    for values in in_parts_of(runs):
        sql = (
            f"SELECT run, line FROM decisions WHERE run IN ({names_of(values)}) "  # noqa: S608  names of ours
            f"AND number < {MOST_LINES:d} ORDER BY run, number"
        )
        for run, line in asker.ask(sql, values):
            found[run].append(line)
    return {run: lines for run, lines in found.items() if not SHARED.search(lines[0])}
