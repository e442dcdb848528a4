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
            parts = self._parts(plan(chosen, span), span, sure=len(current) == 1) if span else ()
            wrong = {part.stretch.line: _corrected(part) for part in parts if len(current) > 1}
            wrong = {line: better for line, better in wrong.items() if better != line}
            if not wrong:
                found = [part for part in parts if part.found.builds or part.found.left_out]
                return Assembled(_without_margins(found, open_start=first is None))
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

    def _parts(self, stretches: Sequence[Stretch], span: Span, *, sure: bool) -> tuple[Part, ...]:
        cut = self._cut(self._widened(stretches, span), span)
        return tuple(Part(stretch, self._find(stretch.line, stretch.span, sure=sure)) for stretch in cut)

    def _find(self, line: Line, span: Span, *, sure: bool = True) -> Found:
        """The builds; where other lines may serve instead, one that shows nothing in a sample is given up."""
        python = None if line.target == self.preferred else line.target.python
        return self.finder.find(line, span.days(), python, thorough=sure)

    def _widened(self, stretches: Sequence[Stretch], span: Span) -> list[Stretch]:
        """The outer ends reach a little beyond the dates of the table, but not beyond the range."""
        found = list(stretches)
        if found:
            begin, end = self._sought(found[0].line, span), self._sought(found[-1].line, span)
            found[0] = replace(found[0], span=Span(begin.first, found[0].span.last))
            found[-1] = replace(found[-1], span=Span(found[-1].span.first, end.last))
        return found

    def _sought(self, line: Line, span: Span) -> Span:
        tables = self.finder.tables
        return line.span.widened(tables.before, tables.after).meets(span) or span

    def _cut(self, stretches: list[Stretch], span: Span) -> list[Stretch]:
        """Neighbours are cut at a date that both have; if there is none, where the older one ends."""
        cut = list(stretches)
        for number in range(len(cut) - 1):
            older, newer = cut[number], cut[number + 1]
            seam = self._seam(older, newer, span)
            end = seam or self._end(older, newer, span)
            cut[number] = replace(older, span=Span(older.span.first, end))
            cut[number + 1] = replace(newer, span=Span(seam or end + timedelta(days=1), newer.span.last))
        return cut

    def _seam(self, older: Stretch, newer: Stretch, span: Span) -> date | None:
        """A date with builds of both lines, near the middle of those that both should have by the table.

        Where the table has none, it is looked for a little beyond the ends of both.
        """
        both = older.span.meets(newer.span)
        if both is None:
            margin = self._sought(older.line, span).meets(self._sought(newer.line, span))
            return self._shared(older.line, newer.line, margin, margin) if margin else None
        middle = _middle(both)
        around = (Span(middle - timedelta(days=reach), middle + timedelta(days=reach)) for reach in (_NEAR, _FAR))
        found = (self._shared(older.line, newer.line, both.meets(days), both) for days in around)
        return next((day for day in found if day), None)

    def _shared(self, older: Line, newer: Line, days: Span | None, both: Span) -> date | None:
        if days is None:
            return None
        shared = set(self._find(older, days).days) & set(self._find(newer, days).days)
        return min(shared, key=lambda day: (abs(day - _middle(both)), day), default=None)

    def _end(self, older: Stretch, newer: Stretch, span: Span) -> date:
        """The last date of the older one where no date has both: its last build before the newer one begins."""
        both = older.span.meets(newer.span)
        if both is not None:
            return _middle(both)
        last = min(self._sought(older.line, span).last, newer.span.last - timedelta(days=1))
        beyond = Span(older.span.last + timedelta(days=1), last) if older.span.last < last else None
        days = self._find(older.line, beyond).days if beyond else []
        return next((day for day in reversed(days) if day < newer.span.first), older.span.last)


def _corrected(part: Part) -> Line | None:
    """The line with the dates on which it was really found, None when it was not found at all."""
    line, days = part.stretch.line, part.found.days
    if not days:
        return None
    planned = part.stretch.span.meets(line.span) or part.stretch.span
    first = days[0] if days[0] - planned.first > _SLACK else line.span.first
    last = days[-1] if planned.last - days[-1] > _SLACK else line.span.last
    return replace(line, span=Span(first, last)) if Span(first, last) != line.span else line


def _without_margins(parts: Sequence[Part], *, open_start: bool) -> tuple[Part, ...]:
    """Dates before the first or after the last build are missing only where the table promises builds."""
    days = [day for part in parts for day in part.found.days]
    if not days:
        return tuple(parts)
    first = days[0] if open_start else min(days[0], parts[0].stretch.line.span.first)
    last = max(days[-1], parts[-1].stretch.line.span.last)
    return tuple(replace(part, found=_between(part.found, first, last)) for part in parts)


def _between(found: Found, first: date, last: date) -> Found:
    left_out = tuple(left for left in found.left_out if left.date and first <= left.date.date() <= last)
    return replace(found, left_out=left_out)


def _middle(span: Span) -> date:
    return span.first + (span.last - span.first) // 2
