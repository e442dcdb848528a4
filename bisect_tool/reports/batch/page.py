"""The page of a batch: every spec with its answer, the timelines side by side on one axis of time. Pure.

As the page of one report: self-contained, no script, light and dark, paper and phone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from html import escape
from itertools import groupby, pairwise

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bisect_tool.reports.batch.counts import Counts, counts_of
from bisect_tool.reports.batch.line import SpecLine, StretchPart, TimelinePart
from bisect_tool.reports.cleaning import one_line
from bisect_tool.reports.sentences import plural

WIDTH, ROW = 600, 16  # of a picture: units of its own, and a row for each case
MOST_CASES = 8
LEAST = 2.0  # width of the shortest stretch, so that a single build is seen


@dataclass(frozen=True, slots=True)
class Axis:
    """From `start` to `end`, seconds since 1970, None where some build has no date: then builds are counted."""

    start: float | None
    end: float | None
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Row:
    """One spec as it is shown. `shown` is the answer in one word, `css` its class."""

    line: SpecLine
    shown: str
    css: str
    picture: Markup


@dataclass(frozen=True, slots=True)
class Group:
    """Specs over the same stream of builds, which share an axis."""

    title: str
    axis: Axis
    rows: tuple[Row, ...]


def render(lines: Sequence[SpecLine], *, title: str, notes: Sequence[str] = (), made: str = "") -> str:
    """The page; `notes` are told at its top, `made` is the time, UTC."""
    page: str = (
        _pages()
        .get_template("batch.html.jinja")
        .render(
            title=title,
            made=made,
            counts=counts_of(lines),
            chips=_chips(counts_of(lines)),
            notes=notes,
            faults=[line for line in lines if line.error is not None],
            since=[(line, one) for line in lines for one in line.since],
            groups=_groups([line for line in lines if line.error is None]),
            plural=plural,
            one_line=one_line,
        )
    )
    return page


@cache
def _pages() -> Environment:
    return Environment(
        loader=PackageLoader("bisect_tool.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


def _chips(counts: Counts) -> list[tuple[str, int, str]]:
    """What is counted at the top: words, number, class."""
    rows = (
        ("still failing", counts.still_open, "bad"),
        ("exact", counts.exact, "good"),
        ("narrowed", counts.narrowed, "unsure"),
        ("no change", counts.no_change, "good"),
        ("not judged", counts.not_judged, "unsure"),
        ("unfinished", counts.unfinished, "unsure"),
        ("no answer", counts.unanswered, "bad"),
    )
    return [row for row in rows if row[1]]


def _groups(lines: Sequence[SpecLine]) -> list[Group]:
    def stream(line: SpecLine) -> tuple[str, str, str]:
        return line.package or "", line.channel or "", line.device or ""

    groups = []
    for (package, channel, device), members in groupby(
        sorted(lines, key=lambda line: (stream(line), line.name)), stream
    ):
        rows = list(members)
        axis = _axis(rows)
        groups.append(Group(f"{package} · {channel} · {device}", axis, tuple(_row(line, axis) for line in rows)))
    return groups


def _row(line: SpecLine, axis: Axis) -> Row:
    shown: str = line.outcome or line.status
    css = {"exact": "good", "no change": "good"}.get(shown, "unsure")
    if line.open_changes:
        shown, css = "still failing", "bad"
    # The picture escapes its own texts.
    return Row(line, shown, css, Markup(picture(line, axis)))  # noqa: S704


def _axis(lines: Sequence[SpecLine]) -> Axis:
    parts = [part for line in lines for row in line.timelines for part in row.stretches]
    dates = [_seconds(date) for part in parts for date in (part.first_date, part.last_date)]
    known = [date for date in dates if date is not None]
    if not parts or len(known) < len(dates):
        return Axis(None, None, "first build", "newest build")
    oldest, newest = min(known), max(known)
    return Axis(oldest, newest, _day(parts, oldest), _day(parts, newest))


def _day(parts: Sequence[StretchPart], seconds: float) -> str:
    dates = (date for part in parts for date in (part.first_date, part.last_date) if date)
    return next(date[:10] for date in dates if _seconds(date) == seconds)


def _seconds(date: str | None) -> float | None:
    return datetime.fromisoformat(date).timestamp() if date else None


def picture(line: SpecLine, axis: Axis) -> str:
    """One row for each case, as SVG; builds of one state are one box."""
    shown = [one for one in line.timelines if one.role == "test"][:MOST_CASES]
    height = ROW * max(1, len(shown))
    label = f"States of {plural(len(shown), 'case')} of {line.name}, oldest build first"
    boxes = [box for number, one in enumerate(shown) for box in _boxes(one, axis, number)]
    opening = f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {WIDTH} {height}" preserveAspectRatio="none">'
    return "".join([opening, *boxes, "</svg>"])


def _boxes(row: TimelinePart, axis: Axis, number: int) -> Iterator[str]:
    order = list(dict.fromkeys(part.failure for part in row.stretches if part.failure))
    for part, (left, right) in zip(row.stretches, _places(row.stretches, axis), strict=True):
        kind = f"f{order.index(part.failure) % 6}" if part.state == "failing" and part.failure else ""
        state = part.state.replace(" ", "-")
        width = max(LEAST, right - left)
        begin = min(left, WIDTH - width)
        yield (
            f'<g class="{state} {kind}"><title>{escape(_tip(row, part))}</title>'
            f'<rect x="{begin:.1f}" y="{number * ROW + 1}" width="{width:.1f}" height="{ROW - 2}"/></g>'
        )


def _places(parts: Sequence[StretchPart], axis: Axis) -> list[tuple[float, float]]:
    """Left and right of each stretch: a stretch goes on until the next one begins."""
    if axis.start is None or axis.end is None or axis.end == axis.start:
        total = sum(part.builds for part in parts) or 1
        edges = [0.0]
        for part in parts:
            edges.append(edges[-1] + WIDTH * part.builds / total)
        return list(pairwise(edges))
    scale = WIDTH / (axis.end - axis.start)
    starts = [((_seconds(part.first_date) or axis.start) - axis.start) * scale for part in parts]
    last = ((_seconds(parts[-1].last_date) or axis.end) - axis.start) * scale
    return list(zip(starts, [*starts[1:], last], strict=True))


def _tip(row: TimelinePart, part: StretchPart) -> str:
    builds = part.first if part.first == part.last else f"{part.first} to {part.last}"
    return f"{row.case}: {part.state} {part.failure or ''}\n{builds} ({part.tried} of {plural(part.builds, 'build')} tried)"
