"""The timelines as a picture: one row a case, one cell a build, as SVG text. Pure.

Every state has a colour and a symbol of its own, so that the picture can be read without colours. Colours are those of the
page's style sheet (CSS classes), so that they follow light and dark mode.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from bisect_tool.reports import sentences, timeline
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.report import CasePart, Entry, Report, State

ROW, CELL_HEIGHT, LEFT, RIGHT, WIDTH = 34, 24, 150, 24, 1080
LABEL_GAP = 58  # pixels that a version label needs
COLOURS = 6  # failures beyond these share the classes again


def draw(report: Report) -> str:
    """The SVG element; its height follows the number of cases."""
    size = len(report.cases[0].timeline)
    cell = min(46.0, (WIDTH - LEFT - RIGHT) / max(1, size))
    height = ROW * len(report.cases) + 26
    label = f"States of {len(report.cases)} cases on {size} builds of {report.spec.package}"
    pencil = _Pencil(cell, timeline.letters(report), timeline.names(report))
    rows = [row for number, case in enumerate(report.cases) for row in pencil.row(case, number)]
    axis = _axis(report, cell, ROW * len(report.cases) + 6)
    return "\n".join(
        [
            f'<svg class="timeline" role="img" aria-label="{escape(label)}" viewBox="0 0 {WIDTH} {height}">',
            *rows,
            *axis,
            "</svg>",
        ]
    )


def failure_class(letters: Mapping[str, str], failure: str) -> str:
    """The CSS class of a failure's colour; `letters` are those of the report."""
    return f"f{list(letters).index(failure) % COLOURS}" if failure in letters else "f0"


@dataclass(frozen=True, slots=True)
class _Pencil:
    """Draws the rows of a report, in which a build is `cell` wide."""

    cell: float
    letters: dict[str, str]
    names: dict[str, str]

    @property
    def gap(self) -> float:
        """What is left free between two builds."""
        return min(2.0, self.cell / 5)

    def row(self, case: CasePart, number: int) -> Iterator[str]:
        y = number * ROW
        name = case.name if len(case.name) <= 20 else f"{case.name[:19]}…"
        yield f'<text class="case {case.role}" x="{LEFT - 12}" y="{y + 17}" text-anchor="end">{escape(name)}</text>'
        for stretch in timeline.stretches(case.timeline):
            # A pale band behind builds that were not tried, between tried ones that agree: most likely the same.
            kind = self._class(stretch.state, stretch.failures)
            shade = "open" if stretch.state == "not tried" else stretch.state
            x, width = LEFT + stretch.start * self.cell, stretch.builds * self.cell - self.gap
            box = f'x="{x:.2f}" y="{y}" width="{width:.2f}" height="{CELL_HEIGHT}"'
            yield f'<g class="band {shade} {kind}"><rect {box} rx="3"/></g>'
        yield from self._cells(case, y)

    def _cells(self, case: CasePart, y: int) -> Iterator[str]:
        box = f'y="{y}" width="{max(0.8, self.cell - self.gap):.2f}" height="{CELL_HEIGHT}" rx="3"/>'
        for index, entry in enumerate(case.timeline):
            x = LEFT + index * self.cell
            failures = timeline.ids(entry)
            state = entry.state.replace(" ", "-")
            yield f'<g class="cell {state} {self._class(entry.state, failures)}"><title>{self._tip(entry)}</title>'
            yield f'<rect x="{x:.2f}" {box}'
            if self.cell >= 12:
                symbol = timeline.symbol(entry.state, failures, self.letters)
                middle = f'x="{x + self.cell / 2 - 1:.2f}" y="{y + 17}" text-anchor="middle"'
                yield f"<text {middle}>{escape(symbol)}</text>"
            yield "</g>"

    def _class(self, state: State, failures: Sequence[str]) -> str:
        return failure_class(self.letters, failures[0]) if state == "failing" and failures else ""

    def _tip(self, entry: Entry) -> str:
        """What is known of a build, escaped."""
        if entry.state == "not tried" and not (entry.failures or entry.failure or entry.trials or entry.reason):
            # As below, for the hundreds of which there is nothing to tell.
            return escape(
                f"{entry.build}\n{entry.date[:10]}\n{entry.state}" if entry.date else f"{entry.build}\n{entry.state}"
            )
        failures = ", ".join(self.names.get(name, name) for name in timeline.ids(entry))
        parts = [
            entry.build,
            sentences.when(entry.date) or "",
            f"{entry.state} {failures}".strip(),
            sentences.plural(entry.trials, "trial") if entry.trials else "",
            sentences.how_often(entry),
            one_line(clean(entry.reason or ""), 160),
        ]
        return escape("\n".join(part for part in parts if part))


def _axis(report: Report, cell: float, top: float) -> Iterator[str]:
    """Version labels: the ends, both sides of each change, then as many others as fit without touching."""
    entries = report.cases[0].timeline
    places: list[int] = []
    for index in [*_important(report), *range(len(entries))]:
        at = bisect_left(places, index)
        if all(abs(index - other) * cell >= LABEL_GAP for other in places[max(0, at - 1) : at + 1]):
            places.insert(at, index)
    for index in places:
        x = LEFT + index * cell + cell / 2
        version = entries[index].build
        short = version if len(version) <= 9 else _short(entries[index])
        yield f'<line class="tick" x1="{x:.2f}" x2="{x:.2f}" y1="{top - 6}" y2="{top}"/>'
        yield f'<text class="version" x="{x:.2f}" y="{top + 14}" text-anchor="middle">{escape(short)}</text>'


def _important(report: Report) -> list[int]:
    numbers = {entry.build: index for index, entry in enumerate(report.cases[0].timeline)}
    sides = [numbers[build] for one in report.boundaries for build in (one.after, one.before) if build in numbers]
    return [*sides, 0, len(numbers) - 1]


def _short(entry: Entry) -> str:
    """A long version by its date, where it has one."""
    return entry.date[5:10] if entry.date else f"{entry.build[:8]}…"
