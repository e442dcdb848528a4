"""The numbers that were compared with a reference build, as rows of a table. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bisect_tool.reports.report import Entry, MetricPart, Report

HEADINGS = ("build", "median", "reference", "ratio", "99 % interval", "trials", "MW p", "KS p")
# Below this one test sees another distribution while the other sees no shift: the p-values are of one of several looks.
OTHER_SHAPE, NO_SHIFT = 0.001, 0.05


@dataclass(frozen=True, slots=True)
class Table:
    """One metric of one case: a title and a row for each build that was compared, oldest first, under `HEADINGS`.

    `words` tells of each row what was found: different, same, undecided, the same median in another shape, the reference.
    """

    title: str
    rows: tuple[tuple[str, ...], ...]
    words: tuple[str, ...]


def tables(report: Report) -> tuple[Table, ...]:
    """A table for each metric of each case that was compared on at least one build."""
    found: dict[tuple[str, str], list[tuple[Entry, MetricPart]]] = {}
    for case in report.cases:
        for entry in case.timeline:
            for part in entry.metrics:
                found.setdefault((case.name, part.name), []).append((entry, part))
    return tuple(_table(case, of_case) for (case, _), of_case in found.items())


def _table(case: str, compared: list[tuple[Entry, MetricPart]]) -> Table:
    part = compared[0][1]
    bound = "at least" if part.limit > 1 else "at most"
    title = (
        f"{part.name} of {case} against {part.reference}; different: {bound} {part.limit:g}x; p-values of Mann-Whitney and "
        "Kolmogorov-Smirnov"
    )
    return Table(title, tuple(_row(entry, one) for entry, one in compared), tuple(_word(*one) for one in compared))


def _row(entry: Entry, part: MetricPart) -> tuple[str, ...]:
    unit = f" {part.unit}" if part.unit else ""
    return (
        entry.build,
        f"{part.build_median:.4g}{unit}",
        f"{part.reference_median:.4g}{unit}",
        f"{_ratio(part.ratio)}x",
        f"{_ratio(part.low)} to {_ratio(part.high)}",
        f"{part.samples} + {part.samples}",
        f"{part.mann_whitney:.2g}",
        f"{part.kolmogorov_smirnov:.2g}",
    )


def _word(entry: Entry, part: MetricPart) -> str:
    if entry.build == part.reference and part.state != "different":
        return "the reference"
    if part.state == "same" and part.kolmogorov_smirnov < OTHER_SHAPE and part.mann_whitney > NO_SHIFT:
        return "same median, other shape"
    return part.state


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}" if 0.1 <= ratio < 100 else f"{ratio:.3g}"
