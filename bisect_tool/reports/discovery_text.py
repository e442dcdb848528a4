"""A discovery as text: the answer, what to write into the spec, and everything that was tried. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bisect_tool.quantities import format_duration
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.columns import wrapped
from bisect_tool.reports.discovery import Discovery, TriedConfiguration
from bisect_tool.reports.sentences import plural

SIGNS = {"the failure": "✗", "another failure": "~", "passes": "✓", "not judged": "?"}
GAP = "  "
ROOM = 40  # columns that the detail needs beside the rest


def answer_lines(found: Discovery, width: int) -> Iterator[str]:
    """What was found, what to write, what to know."""
    yield from wrapped("=> ", f"{'configuration: ' if found.found else ''}{found.sentence}", width)
    if found.fragment:
        yield ""
        yield "in the spec:"
        yield from (f"   {clean(line)}" for line in found.fragment.rstrip().split("\n"))
    for path in found.written:
        yield f"written: {path}"
    if found.notes:
        yield ""
        for note in found.notes:
            yield from wrapped("   - ", note, width)


def table_lines(found: Discovery, width: int) -> Iterator[str]:
    """Every configuration that was tried, in that order, and what could not be."""
    if len(found.tried) > 1:
        yield f"configurations, until {' or '.join(found.wanted)} shows:"
        builds = {one.build for one in found.tried}
        rows = [_row(one, has_builds=len(builds) > 1) for one in found.tried]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        for one, row in zip(found.tried, rows, strict=True):
            cells = GAP.join(cell.ljust(size) for cell, size in zip(row, widths, strict=True))
            yield from _beside(f"   {SIGNS[one.shows]} {cells}".rstrip(), one.detail, width)
        spent = f"{plural(found.trials, 'look')} in {format_duration(found.seconds)}"
        yield from wrapped("   ", f"{spent}; ✗ the failure, ~ another failure, ✓ passes, ? not judged", width)
    for text in found.cannot:
        yield from wrapped("   not tried: ", text, width)


def _row(one: TriedConfiguration, *, has_builds: bool) -> tuple[str, ...]:
    count = f"{one.shown} of {one.trials}" if one.trials else ""
    seconds = format_duration(one.seconds) if one.seconds else ""
    name = ", ".join(one.changes) or "as it is"
    return (name, *((one.build,) if has_builds else ()), count, seconds)


def _beside(head: str, detail: str, width: int) -> Iterator[str]:
    text = one_line(clean(detail), 200)
    if text and len(head) + len(GAP) + min(len(text), ROOM) <= width:
        yield from wrapped(head + GAP, text, width)
        return
    yield head
    if text:
        yield from wrapped("        ", text, width)
