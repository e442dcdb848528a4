"""What a diagnosis says, as plain lines that every format shows. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bisect_tool.reports.diagnosis import Diagnosis
from bisect_tool.reports.report import Report

MOST_DIFF = 60


@dataclass(frozen=True, slots=True)
class ShownDiagnosis:
    """A diagnosis ready to be shown: `facts` are (label, text), `rungs` rows of (rung, on the build, on its neighbour)."""

    title: str
    facts: tuple[tuple[str, str], ...]
    builds: tuple[str, str]
    rungs: tuple[tuple[str, str, str], ...]
    diff: tuple[str, ...]


def show_diagnoses(report: Report) -> tuple[ShownDiagnosis, ...]:
    """Every diagnosis of a report."""
    return tuple(_shown(one) for one in report.diagnoses)


def _shown(one: Diagnosis) -> ShownDiagnosis:
    diff = one.code.diff.split("\n") if one.code and one.code.diff else []
    cut = [f"… {len(diff) - MOST_DIFF} more lines in {one.evidence}"] if len(diff) > MOST_DIFF else []
    return ShownDiagnosis(
        title=f"which part of the compiler: {one.failure} of {one.case}, {one.build} against {one.without}",
        facts=tuple(_facts(one)),
        builds=(one.build, one.without),
        rungs=tuple(_rows(one)),
        diff=(*diff[:MOST_DIFF], *cut),
    )


def _facts(one: Diagnosis) -> Iterator[tuple[str, str]]:
    yield "part", one.part or "not found"
    yield "because", one.sentence
    if one.bisector and one.bisector.reason:
        yield "bisector", one.bisector.reason
    if one.code:
        yield "code", one.code.sentence
    if one.minified:
        yield "minified", one.minified
    if one.evidence:
        yield "evidence", one.evidence


def _rows(one: Diagnosis) -> Iterator[tuple[str, str, str]]:
    shown = {(rung.rung, rung.build): rung for rung in one.rungs}
    for name in dict.fromkeys(rung.rung for rung in one.rungs):
        cells = [shown.get((name, build)) for build in (one.build, one.without)]
        texts = ["not run" if cell is None else cell.shows + _detail(cell.detail) for cell in cells]
        yield name, texts[0], texts[1]


def _detail(detail: str) -> str:
    flat = " ".join(detail.split())
    return f": {flat if len(flat) <= 80 else flat[:79] + '…'}" if flat else ""
