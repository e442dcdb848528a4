"""Which variant and which Python the builds of a range are taken for: one for all of it if there is one, else cut.

A line is one variant for one Python, with the dates on which it is built. Pure: what is really there corrects the dates of a
line from outside, and the plan is made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from packaging.version import Version

from bisect_tool.builds import versions
from bisect_tool.builds.build import Machine, Target, Wanted
from bisect_tool.builds.nightly.tables import ArchitectureRow, Span, Tables, VariantRow

AUTO = "auto"
_EVER = Span(date.min, date.max)


@dataclass(frozen=True, slots=True)
class Line:
    """Builds of one variant for one Python, expected on the dates of `span`. Among equals the least `rank` is taken."""

    variant: str
    target: Target
    span: Span
    rank: tuple[int, int]

    def within(self, span: Span) -> Line | None:
        """The line on fewer dates, None when none are left."""
        both = self.span.meets(span)
        return replace(self, span=both) if both else None


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of a range that a line serves. Two neighbouring stretches overlap where both lines are built."""

    line: Line
    span: Span


def lines_for(tables: Tables, wanted: Wanted) -> tuple[Line, ...]:
    """Every line that may serve: those of the variant asked for, or all that run on the machine."""
    targets = (wanted.target, *wanted.other_targets)
    spans = list(_variant_spans(tables, wanted))
    return tuple(
        line
        for number, target in enumerate(targets)
        for rank, (variant, span) in enumerate(spans)
        if (line := Line(variant, target, python_span(tables, target), (number, rank)).within(span))
    )


def python_span(tables: Tables, target: Target) -> Span:
    """The dates on which wheels for a Python are built; one that the table lacks may have them at any time."""
    return tables.pythons.get(target.tags[0].abi, Span(tables.begin, date.max))


def plan(lines: Sequence[Line], days: Span) -> tuple[Stretch, ...]:
    """The stretches that serve `days` with as few changes as possible, oldest first; dates that no line has stay out."""
    whole = [line for line in lines if line.span.meets(days) == days]
    if whole:
        return (Stretch(min(whole, key=lambda line: line.rank), days),)
    stretches: list[Stretch] = []
    reached = days.first - timedelta(days=1)
    while reached < days.last and (line := _next(lines, reached, days)) is not None:
        served = line.span.meets(days)
        assert served is not None
        stretches.append(Stretch(line, served))
        reached = served.last
    return tuple(stretches)


def reaching_back(lines: Sequence[Line], to: date) -> Line | None:
    """The line of that date, or of the last date before it, that begins first: for a range without a beginning."""
    begun = [line for line in lines if line.span.first <= to]
    end = max((min(line.span.last, to) for line in begun), default=to)
    there = [line for line in begun if line.span.last >= end]
    return min(there, key=lambda line: (line.span.first, line.rank), default=None)


def _next(lines: Sequence[Line], reached: date, days: Span) -> Line | None:
    """Of the lines that go on where the last one ended, the one that goes farthest; after a hole, the next that begins."""
    beyond = [line for line in lines if line.span.meets(days) and line.span.last > reached]
    joining = [line for line in beyond if line.span.first <= reached + timedelta(days=1)]
    if not joining and beyond:
        first = min(line.span.first for line in beyond)
        joining = [line for line in beyond if line.span.first == first]
    return min(joining, key=lambda line: (-min(line.span.last, days.last).toordinal(), line.rank), default=None)


def _variant_spans(tables: Tables, wanted: Wanted) -> Iterator[tuple[str, Span]]:
    """The variants that may serve with their dates, best first; a variant without a row may be built at any time."""
    if wanted.variant != AUTO or wanted.machine.device == "cpu":
        variant = wanted.variant if wanted.variant != AUTO else "cpu"
        spans = tables.spans_of(variant) or (Span(tables.begin, date.max),)
        yield variant, Span(min(span.first for span in spans), max(span.last for span in spans))
        return
    rows = [row for row in tables.variants if row.name.startswith("cu")]
    for row in sorted(rows, key=lambda row: (number_of(row.name), row.span.first), reverse=True):
        yield from ((row.name, span) for span in runnable(tables, row, wanted.machine, wanted.target))


def number_of(variant: str) -> int:
    """130 for `cu130`."""
    return int(variant.removeprefix("cu"))


def runnable(tables: Tables, row: VariantRow, machine: Machine, target: Target) -> Iterator[Span]:
    """The dates on which the builds of a CUDA variant run with the driver and the GPU; both count only where known."""
    driver = versions.parsed(machine.driver or "")
    if driver is not None and row.driver is not None and driver < row.driver:
        return
    if machine.capability is None:
        yield row.span
        return
    rows = [one for one in tables.architectures if row.name in one.variants]
    here = [one for one in rows if target.tags[0].platform.endswith(one.machine)]
    serving = _joined([one.span for one in here if serves(one, machine.capability)]) if rows else [_EVER]
    yield from (both for span in serving if (both := span.meets(row.span)))


def serves(row: ArchitectureRow, capability: tuple[int, int]) -> bool:
    """Whether code of the row runs on a GPU: of its own generation for the same or an older member, or as PTX.

    CUDA C++ programming guide, "Binary compatibility" and "PTX compatibility".
    """
    major, minor = capability
    if any(have // 10 == major and have % 10 <= minor for have in row.have):
        return True
    return row.ptx and (major, minor) > divmod(max(row.have), 10)


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in sorted(spans, key=lambda span: span.first):
        if joined and joined[-1].last != date.max and span.first <= joined[-1].last + timedelta(days=1):
            joined[-1] = Span(joined[-1].first, max(joined[-1].last, span.last))
        else:
            joined.append(span)
    return joined


def least_driver(tables: Tables, days: Span) -> Version | None:
    """The oldest driver that any CUDA variant of these dates runs with."""
    return min((row.driver for row in tables.variants if row.driver and row.span.meets(days)), default=None)
