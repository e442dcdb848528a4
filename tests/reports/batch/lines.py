"""Lines of a batch to test with."""

from __future__ import annotations

from bisect_tool.reports.batch.line import ErrorPart, SpecLine, line_of
from bisect_tool.reports.report import Report
from tests.reports import samples

ENDED = "2026-11-30T12:00:00+00:00"


def line(name: str, report: Report) -> SpecLine:
    """The line of a report."""
    return line_of(report, name=name, folder=f"specs/{name}", ended=ENDED)


def fault(name: str, status: str = "failed", what: str = "no builds") -> SpecLine:
    """A spec without an answer."""
    part = ErrorPart(
        kind="PackageNotFound", status=13, what=what, where="http://127.0.0.1/simple/", advice="correct it"
    )
    return SpecLine.model_validate(
        {"name": name, "path": f"{name}.yaml", "status": status, "error": part, "ended": ENDED}
    )


def several() -> list[SpecLine]:
    """One of each kind."""
    cut_short = samples.exact().model_copy(update={"outcome": "unfinished"})
    return [
        line("exact", samples.exact()),
        line("open", samples.open_ended()),
        line("narrowed", samples.narrowed()),
        line("flaky", samples.flaky()),
        line("long", samples.long()),
        line("unchanged", samples.unchanged()),
        line("not-judged", samples.not_judged()),
        line("cut-short", cut_short),
        line("hostile", samples.hostile()),
        fault("fault", what=samples.HOSTILE),
        fault("wrong", "invalid"),
    ]
