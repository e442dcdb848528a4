"""A report that fits into a comment: what matters least is left out first, and the comment says so. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bisect_tool.reports.formats import markdown
from bisect_tool.reports.report import Boundary, Report
from bisect_tool.service.github.harmless import defused

_ROWS = 20  # commits of a list that was shortened
_CHARACTERS = 4_000  # of a failure as it was printed


def fitted(report: Report, most: int) -> tuple[str, bool]:
    """The report as Markdown of at most `most` bytes, and whether something was left out of it."""
    for number, version in enumerate(_versions(report)):
        text = markdown.render(version)
        if len(defused(text).encode("utf-8", "replace")) <= most:
            return text, number > 0
    return _only_summary(report, most), True


def _versions(report: Report) -> Iterator[Report]:
    """The report, then with less and less."""
    yield report
    for less in (_without_differences, _with_few_commits, _without_diagnoses, _without_timelines, _with_short_failures):
        report = less(report)
        yield report


def _without_differences(report: Report) -> Report:
    return _bounded(report, lambda boundary: boundary.model_copy(update={"differences": ()}))


def _with_few_commits(report: Report) -> Report:
    def few(boundary: Boundary) -> Boundary:
        commits = boundary.commits
        if commits is None or commits.rows is None or len(commits.rows) <= _ROWS:
            return boundary
        note = f"the list of {len(commits.rows)} commits is left out here"
        fewer = commits.model_copy(update={"rows": None, "notes": (*commits.notes, note)})
        return boundary.model_copy(update={"commits": fewer})

    return _bounded(report, few)


def _without_diagnoses(report: Report) -> Report:
    return report.model_copy(update={"diagnoses": (), "isolation": (), "stages": ()})


def _without_timelines(report: Report) -> Report:
    return report.model_copy(update={"cases": tuple(case.model_copy(update={"timeline": ()}) for case in report.cases)})


def _with_short_failures(report: Report) -> Report:
    failures = tuple(
        failure.model_copy(
            update={"signature": failure.signature.model_copy(update={"text": failure.signature.text[-_CHARACTERS:]})}
        )
        for failure in report.failures[:10]
    )
    return report.model_copy(update={"failures": failures})


def _only_summary(report: Report, most: int) -> str:
    lines, size = ["### Bisecting", ""], 20
    for sentence in report.summary:
        line = f"- {markdown.escape(sentence)}"
        size += len(line.encode("utf-8", "replace")) + 1
        if size > most:
            break
        lines.append(line)
    return "\n".join(lines) + "\n"


def _bounded(report: Report, change: Callable[[Boundary], Boundary]) -> Report:
    return report.model_copy(update={"boundaries": tuple(change(one) for one in report.boundaries)})
