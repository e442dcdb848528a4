"""Asking for the records of searches: those of some repros, and the listings that searches of some packages had.

Plain SQL, see `found_asking`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bisect_tool.store.begun_asking import SHARED
from bisect_tool.store.found_asking import ARMS, Asker, in_parts_of, names_of

MOST_RUNS = 8  # of one repro, the newest
MOST_LINES = 400  # of one record; a search takes some tens
_LONGEST = 4_000_000  # characters of a line; the first one of a record has the names of all builds
_HUGE = 64_000_000  # of that of hundreds of specs, which only one of them has to read
_AT_ONCE = 8  # first lines that are read together
FORGOTTEN = '"forgotten"'  # in the line of a decision
_LOOKED_THROUGH = 400  # newest runs of all packages among which listings are looked for


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """The record of a search; `place` is that of the run's own question in it. `lines` begin with the questions."""

    run: str
    repro: str
    spec: str
    package: str
    started: str
    place: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredOpening:
    """The first line of a record, and the place of a run's own question in it.

    `forgetting` are the lines of those decisions before which something was forgotten, because a file had been replaced.
    """

    started: str
    place: int
    line: str
    forgetting: tuple[str, ...] = ()


def records_of(asker: Asker, repros: Collection[str]) -> dict[str, list[StoredRecord]]:
    """The newest records of each repro, newest first; without those that are too long, because many specs share them."""
    rows = _newest_runs(asker, sorted(set(repros)))
    heads = _lines(asker, [row[1] for row in rows], most=1)
    shared = {run: other for run, lines in heads.items() if (other := _shared(lines[0])) is not None}
    own = [row[1] for row in rows if row[1] in heads and row[1] not in shared]
    lines = _lines(asker, {*own, *(first for first, _ in shared.values())}, most=MOST_LINES + 1)
    found: dict[str, list[StoredRecord]] = defaultdict(list)
    for repro, run, spec, package, started in rows:
        first, place = shared.get(run, (run, 0))
        if place >= 0 and 0 < len(lines.get(first, ())) <= MOST_LINES:
            found[repro].append(StoredRecord(run, repro, spec, package, started, place, tuple(lines[first])))
    return found


def abouts_of(asker: Asker, runs: Collection[str]) -> dict[str, dict[str, Any] | None]:
    """Where each run was asked, None where its record does not say; a run without a record is not in it."""
    found: dict[str, dict[str, Any] | None] = {}
    for run, (line,) in _lines(asker, runs, most=1, longest=_HUGE).items():
        try:
            about = json.loads(line).get("about")
            about = about[0] if isinstance(about, list) else about
            found[run] = about if isinstance(about, dict) else None
        except (ValueError, AttributeError, IndexError):
            found[run] = None
    return found


def openings_of_runs(asker: Asker, runs: Collection[str]) -> dict[str, StoredOpening]:
    """The first lines of the records of these runs; none of a record that hundreds of specs share."""
    heads = _lines(asker, runs, most=1)
    shared = {run: other for run, (line,) in heads.items() if (other := _shared(line)) is not None}
    firsts = heads | _lines(asker, {first for first, _ in shared.values()}, most=1)
    forgetting = _forgetting(asker, firsts)
    found: dict[str, StoredOpening] = {}
    for values in in_parts_of(sorted(heads)):
        for run, started in asker.ask(f"SELECT id, started FROM runs WHERE id IN ({names_of(values)})", values):  # noqa: S608  names of ours
            first, place = shared.get(run, (run, 0))
            if place >= 0 and first in firsts:
                found[run] = StoredOpening(started, place, firsts[first][0], tuple(forgetting.get(first, ())))
    return found


def forgotten_in(lines: Iterable[str], place: int) -> frozenset[int]:
    """The builds of a question that were others at the end of its search than when they were listed, from its decisions."""
    told = (json.loads(line) for line in lines if FORGOTTEN in line)
    return frozenset(build for line in told for build in line["learned"][place].get("forgotten", ()))


def _forgetting(asker: Asker, runs: Collection[str]) -> dict[str, list[str]]:
    """The decisions of each run before which something was forgotten: next to none."""
    found: dict[str, list[str]] = defaultdict(list)
    for values in in_parts_of(sorted(set(runs))):
        sql = f"SELECT run, line FROM decisions WHERE run IN ({names_of(values)}) AND number > 0 AND line LIKE :part "  # noqa: S608  names of ours
        for run, line in asker.ask(f"{sql} ORDER BY run, number", {**values, "part": f"%{FORGOTTEN}%"}):
            found[run].append(line)
    return found


def openings_of(asker: Asker, package: str) -> Iterator[tuple[str, str]]:
    """When the newest searches of a package began, and the first lines of their records, newest first, each record once.

    They are read a few at a time, as far as somebody wants to know them.
    """
    sql = (
        "SELECT id, package, started FROM (SELECT id, package, started, outcome FROM runs ORDER BY started DESC "  # noqa: S608  numbers
        f"LIMIT {_LOOKED_THROUGH:d}) r WHERE outcome IS NULL OR outcome <> 'review' ORDER BY started DESC, id"
    )
    runs = [(run, started) for run, own, started in asker.ask(sql, {}) if own == package]
    seen: set[str] = set()
    for start in range(0, len(runs), _AT_ONCE):
        part = runs[start : start + _AT_ONCE]
        heads = _lines(asker, [run for run, _ in part if run not in seen], most=1)
        shared = {run: other[0] for run, (line,) in heads.items() if (other := _shared(line)) is not None}
        firsts = heads | _lines(asker, set(shared.values()) - heads.keys() - seen, most=1)
        for run, started in part:
            first = shared.get(run, run)
            if first in firsts and first not in seen:
                yield started, firsts[first][0]
            seen.add(first)


def _newest_runs(asker: Asker, repros: Sequence[str]) -> list[Sequence[Any]]:
    found: list[Sequence[Any]] = []
    for start in range(0, len(repros), ARMS):
        values: Mapping[str, object] = {f"k{number}": one for number, one in enumerate(repros[start : start + ARMS])}
        arms = (
            f"SELECT * FROM (SELECT repro, id, spec, package, started FROM runs WHERE repro = :{name} "  # noqa: S608  names of ours
            f"AND (outcome IS NULL OR outcome <> 'review') ORDER BY started DESC, id DESC LIMIT {MOST_RUNS:d}) r_{name}"
            for name in values
        )
        found += asker.ask(" UNION ALL ".join(arms), values)
    return sorted(found, key=lambda row: (row[4], row[1]), reverse=True)


def _shared(line: str) -> tuple[str, int] | None:
    """The run in whose record this one is, and at which place (-1: not said); None for one that has its own."""
    if SHARED.search(line) is None:
        return None
    told = json.loads(line)
    return str(told["same as"]), int(told.get("place", -1))


def _lines(asker: Asker, runs: Collection[str], *, most: int, longest: int = _LONGEST) -> dict[str, list[str]]:
    """The first lines of each record; of one with a huge line, because hundreds of specs share it, none."""
    found: dict[str, list[str]] = defaultdict(list)
    for values in in_parts_of(sorted(set(runs))):
        sql = (
            f"SELECT run, number, CASE WHEN length(line) <= {longest:d} THEN line END FROM decisions "  # noqa: S608  names of ours
            f"WHERE run IN ({names_of(values)}) AND number < {most:d} ORDER BY run, number"
        )
        for run, number, line in asker.ask(sql, values):
            if line is not None and number == len(found[run]):
                found[run].append(line)
            else:
                found[run] = []
    return {run: lines for run, lines in found.items() if lines}
