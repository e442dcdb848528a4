"""From lines to one listing: the plan is made by the tables, tried on the index, and made again where the tables were wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise

from bisect_tool.builds.build import Build, LeftOut, Target
from bisect_tool.builds.nightly.choice import Line, Stretch, plan, reaching_back
from bisect_tool.builds.nightly.finder import Finder, Found
from bisect_tool.builds.nightly.tables import Span

# A line whose first or last builds are this far from where the table expects them is not what the table says.
_SLACK = timedelta(days=10)
_NEAR, _FAR = 2, 7  # days around the middle of an overlap that are looked at for a date with builds of both lines


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch and what was found of it; neighbouring parts share their seam, the date that both have."""

    stretch: Stretch
    found: Found


@dataclass(frozen=True, slots=True)
class Assembled:
    """The parts of a listing, oldest first."""

    parts: tuple[Part, ...]

    @property
    def builds(self) -> tuple[Build, ...]:
        """All builds, oldest first; on a seam the older line first."""
        return tuple(build for part in self.parts for build in part.found.builds)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """All missing dates, oldest first."""
        return tuple(left for part in self.parts for left in part.found.left_out)

    @property
    def seams(self) -> tuple[date, ...]:
        """The dates on which builds of two lines are listed."""
        days = [part.found.days for part in self.parts if part.found.days]
        return tuple(left[-1] for left, right in pairwise(days) if left[-1] == right[0])


@dataclass(frozen=True, slots=True)
class Assembler:
    """Puts the parts together; `preferred` is the Python that needs no mention."""

    finder: Finder
    preferred: Target

    def assemble(self, lines: Sequence[Line], first: date | None, last: date) -> Assembled:
        """The builds of the lines from `first` (None: as far back as the best of the lines goes) to `last`.

        Raises what the finder raises.
        """
        current = list(lines)
        while current:
            chosen, span = self._range(current, first, last)
            parts = self._parts(plan(chosen, span), span) if span else ()
            wrong = {part.stretch.line: _corrected(part) for part in parts if len(current) > 1}
            wrong = {line: better for line, better in wrong.items() if better != line}
            if not wrong:
                parts = tuple(_without_margins(part, open_start=first is None) for part in parts)
                return Assembled(tuple(part for part in parts if part.found.builds or part.found.left_out))
            current = [better for line in current if (better := wrong.get(line, line)) is not None]
        return Assembled(())

    def _range(self, lines: Sequence[Line], first: date | None, last: date) -> tuple[Sequence[Line], Span | None]:
        """The lines to choose from, and the dates; without a beginning they are those of the line that goes back farthest."""
        if first is not None:
            return lines, Span(first, last) if first <= last else None
        line, tables = reaching_back(lines, last), self.finder.tables
        if line is None:
            return (), None
        return (line,), Span(max(tables.begin, line.span.first - tables.before), last)

    def _parts(self, stretches: Sequence[Stretch], span: Span) -> tuple[Part, ...]:
        cut = self._cut(self._widened(stretches, span))
        return tuple(Part(stretch, self._find(stretch.line, stretch.span)) for stretch in cut)

    def _find(self, line: Line, span: Span) -> Found:
        python = None if line.target == self.preferred else line.target.python
        return self.finder.find(line, span.days(), python)

    def _widened(self, stretches: Sequence[Stretch], span: Span) -> list[Stretch]:
        """The outer ends reach a little beyond the dates of the table, but not beyond the range."""
        found = list(stretches)
        if found:
            tables = self.finder.tables
            sought = [stretch.line.span.widened(tables.before, tables.after) for stretch in (found[0], found[-1])]
            begin, end = max(span.first, sought[0].first), min(span.last, sought[1].last)
            found[0] = replace(found[0], span=Span(begin, found[0].span.last))
            found[-1] = replace(found[-1], span=Span(found[-1].span.first, end))
        return found

    def _cut(self, stretches: list[Stretch]) -> list[Stretch]:
        """Neighbours that overlap are cut at a date that both have; if there is none, in the middle."""
        cut = list(stretches)
        for number in range(len(cut) - 1):
            older, newer = cut[number], cut[number + 1]
            both = older.span.meets(newer.span)
            if both is not None:
                seam = self._seam(older.line, newer.line, both)
                middle = _middle(both)
                cut[number] = replace(older, span=Span(older.span.first, seam or middle))
                cut[number + 1] = replace(newer, span=Span(seam or middle + timedelta(days=1), newer.span.last))
        return cut

    def _seam(self, older: Line, newer: Line, both: Span) -> date | None:
        middle = _middle(both)
        for reach in (_NEAR, _FAR):
            days = both.meets(Span(middle - timedelta(days=reach), middle + timedelta(days=reach)))
            if days is None:
                continue
            shared = set(self._find(older, days).days) & set(self._find(newer, days).days)
            if shared:
                return min(shared, key=lambda day: (abs(day - middle), day))
        return None


def _corrected(part: Part) -> Line | None:
    """The line with the dates on which it was really found, None when it was not found at all."""
    line, days = part.stretch.line, part.found.days
    if not days:
        return None
    planned = part.stretch.span.meets(line.span) or part.stretch.span
    first = days[0] if days[0] - planned.first > _SLACK else line.span.first
    last = days[-1] if planned.last - days[-1] > _SLACK else line.span.last
    return replace(line, span=Span(first, last)) if Span(first, last) != line.span else line


def _without_margins(part: Part, *, open_start: bool) -> Part:
    """Dates before the first or after the last build are missing only where the table promises builds."""
    days, span = part.found.days, part.stretch.line.span
    if not days:
        return part
    first = days[0] if open_start else min(days[0], span.first)
    last = max(days[-1], span.last)
    left_out = tuple(left for left in part.found.left_out if left.date and first <= left.date.date() <= last)
    return replace(part, found=replace(part.found, left_out=left_out))


def _middle(span: Span) -> date:
    return span.first + (span.last - span.first) // 2
