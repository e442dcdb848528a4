"""How fast nobody could be: the longest chain of work that the answer needs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.benchmarks.speed import table
from tests.benchmarks.speed.table import Row


@dataclass(frozen=True, slots=True)
class Piece:
    """Seconds of one build: on the wire, unpacked and imported (`prepare`), and of its trials."""

    download: float
    prepare: float
    run: float


def critical_path(pieces: Sequence[Piece]) -> float:
    """Seconds of the longest chain, in the order of the builds.

    Even one who knew every next build beforehand has one wire and one worker: downloads follow each other, trials too, and a
    trial waits for its own build to be downloaded and prepared. Preparing goes on beside everything else.
    """
    fetched = ended = 0.0
    for piece in pieces:
        fetched += piece.download
        ended = max(ended, fetched + piece.prepare) + piece.run
    return ended


def pieces_of(builds: int, trials: int, one: Piece) -> tuple[Piece, ...]:
    """So many builds that are alike; each runs once, the last one also the trials beyond that (they verify).

    Raises `ValueError` for fewer trials than builds, or none.
    """
    if not 0 < builds <= trials:
        raise ValueError(f"{builds} builds with {trials} trials have no path")
    last = Piece(one.download, one.prepare, one.run * (trials - builds + 1))
    return (*(one,) * (builds - 1), last)


def with_paths(rows: Sequence[Row], downloads: Mapping[str, float]) -> list[Row]:
    """The rows with their critical paths, as far as the pieces were measured.

    A wheel is on the wire as long as its setting says (`downloads`, seconds by name); unpacking and importing take the mean of
    the run with nothing ahead of need, where each goes on alone; a trial takes the mean of the row's own run.
    """
    off = table.find(rows, "equal", table.OURS_OFF)
    if off is None or off.time is None or not off.builds:
        return list(rows)
    prepare = (off.time["unpack_s"] + off.time["import_s"]) / off.builds
    return [_with_path(row, downloads, prepare) for row in rows]


def _with_path(row: Row, downloads: Mapping[str, float], prepare: float) -> Row:
    if row.time is None or row.thin or row.setting not in downloads or row.name == table.OURS_AGAIN:
        return row
    run = row.time["run_s"] / row.steps
    if row.name == table.OURS_KEPT:
        return replace(row, path=row.time["run_s"])
    one = Piece(downloads[row.setting], prepare, run)
    return replace(row, path=critical_path(pieces_of(row.builds, row.steps, one)))
