"""Asking for questions that were begun and not answered: the record of their search, and the trials since.

Plain SQL, see `found_asking`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bisect_tool.store.found_asking import Asker, in_parts_of, names_of

MOST_LINES = 400  # of one record; a search takes some tens
MOST_TRIALS = 2_000  # of one question since its run began


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


def trials_since(asker: Asker, repro: str, started: str) -> list[TrialHead]:
    """The trials of a repro since `started`, in the order in which they ended."""
    columns = "id, repro, case_name, case_digest, version, setting, device, finished"
    sql = (
        f"SELECT {columns} FROM trials WHERE repro = :repro AND finished >= :started "  # noqa: S608  names of ours
        f"ORDER BY id LIMIT {MOST_TRIALS:d}"
    )
    return [TrialHead(*row) for row in asker.ask(sql, {"repro": repro, "started": started})]


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
    return {run: lines for run, lines in found.items() if not lines[0].startswith('{"same as"')}
