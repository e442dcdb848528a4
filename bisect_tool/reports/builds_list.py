"""The builds of a range as a value and as a table: what `bisect builds` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from bisect_tool.quantities import format_size
from bisect_tool.reports import timeline
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.part import Part
from bisect_tool.reports.report import State

Status = Literal["listed", "hidden", "left out"]
SYMBOLS: dict[State, str] = {
    "pass": timeline.PASS,
    "failing": "x",
    "flaky": timeline.FLAKY,
    "untestable": timeline.UNTESTABLE,
    "not tried": timeline.NOT_TRIED,
}


class KnownState(Part):
    """What is known of one case on a build; `failures` are names, `reason` why it could not be tested."""

    case: str
    state: State
    failures: tuple[str, ...] = ()
    reason: str | None = None


class BuildRow(Part):
    """One build, or a version that is none: `status` says whether the index lists it, only has it, or why it is left out.

    `commit` is the one of the main line; `commit_from` says where that is known from. `size` is in bytes. `ready`: its
    environment is in the cache.
    """

    version: str
    date: str | None
    status: Status
    because: str | None = None
    variant: str | None = None
    python: str | None = None
    size: int | None = None
    ready: bool = False
    commit: str | None = None
    commit_from: Literal["wheel", "date"] | None = None
    location: str | None = None
    states: tuple[KnownState, ...] = ()


class BuildsList(Part):
    """The builds of a range, oldest first, with what is left out in its place."""

    schema_version: Literal[1] = 1
    package: str
    channel: str
    source: str
    device: str
    notes: tuple[str, ...]
    cases: tuple[str, ...]
    rows: tuple[BuildRow, ...]


def render(found: BuildsList) -> str:
    """The table, a line for each build."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: BuildsList) -> Iterator[str]:
    builds = [row for row in found.rows if row.status != "left out"]
    hidden = sum(row.status == "hidden" for row in builds)
    left = len(found.rows) - len(builds)
    told = [f"{len(builds)} builds"]
    told += [f"{hidden} of them hidden"] if hidden else []
    told += [f"{left} versions or dates without one"] if left else []
    yield f"{found.package}, channel {found.channel} ({found.source}): {', '.join(told)}"
    yield from (f"note: {one_line(clean(note), 300)}" for note in found.notes)
    yield ""
    yield from _columns([_head(found.cases), *(_cells(row) for row in found.rows)])
    if found.cases:
        yield ""
        yield "   ".join(f"{SYMBOLS[state]} {state}" for state in SYMBOLS)


def _head(cases: Sequence[str]) -> list[str]:
    return ["date", "version", "where", "size", "here", "commit", *cases]


def _cells(row: BuildRow) -> list[str]:
    commit = "" if row.commit is None else row.commit[:12] + (" by date" if row.commit_from == "date" else "")
    return [
        (row.date or "")[:10],
        row.version + (f" (Python {row.python})" if row.python else ""),
        row.status if row.status != "left out" else one_line(clean(row.because or "left out"), 80),
        "" if row.size is None else format_size(row.size),
        "yes" if row.ready else "",
        commit,
        *(f"{SYMBOLS[known.state]} {', '.join(known.failures)}".rstrip() for known in row.states),
    ]


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    count = max(len(row) for row in rows)
    filled = [[*row, *[""] * (count - len(row))] for row in rows]
    used = [number for number in range(count) if any(row[number] for row in filled[1:]) or number < 2]
    widths = {number: max(len(row[number]) for row in filled) for number in used}
    for row in filled:
        yield "  ".join(row[number].ljust(widths[number]) for number in used).rstrip()
