"""Terminal text: the answer first, then the timelines, then what it rests on. Readable without colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from bisect_tool.reports import answer, numbers, sentences, timeline
from bisect_tool.reports.cleaning import clean, one_line, shorten
from bisect_tool.reports.columns import wrapped
from bisect_tool.reports.commit_lines import ShownCommits
from bisect_tool.reports.diagnosis_lines import show_diagnoses
from bisect_tool.reports.rates import lines_of
from bisect_tool.reports.report import CasePart, Report
from bisect_tool.reports.time_line import where_time_went

if TYPE_CHECKING:
    from rich.text import Text

SUFFIX = ".txt"
WIDTH = 100
MOST_DIFFERENCES = 8
MOST_BUILDS = 6
FAILURE_LINES = 12
MOST_REASONS = 3


def render(report: Report) -> str:
    """The report as plain text."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def render_rich(report: Report) -> Text:
    """The same text with a little colour."""
    from rich.text import Text

    text = Text(render(report))
    text.highlight_regex(r"(?m)^[A-Z*]  .*$", "bold red")
    text.highlight_regex(r"\b(exact|narrowed|open): ", "bold")
    text.highlight_regex(r"(?m)^[a-z ]+:$|^(timeline|machine|work|repeat|advice)\b", "bold cyan")
    text.highlight_regex(r"https?://\S+", "underline blue")
    return text


def _lines(report: Report) -> Iterator[str]:
    title = one_line(clean(report.spec.title or report.spec.name))
    yield f"{title}"
    yield f"{report.spec.package} {report.range.first} to {report.range.last}, channel {report.channel}"
    yield ""
    for sentence in answer.summary(report):
        yield from _wrapped("=> ", sentence)
    yield ""
    yield from _stages(report)
    for finding in answer.findings(report):
        yield from _finding(finding)
    yield from _diagnoses(report)
    yield from _timelines(report)
    yield from _numbers(report)
    yield from _notes(report)
    yield from _footer(report)


def _stages(report: Report) -> Iterator[str]:
    """What the other channels said, when several were searched."""
    for stage in report.stages:
        yield f"channel {stage.channel}, {stage.first} to {stage.last}:"
        for sentence in stage.summary:
            yield from _wrapped("   ", sentence)
        yield ""


def _wrapped(head: str, text: str) -> list[str]:
    """Text from anywhere on lines that fit, the first behind `head`."""
    return wrapped(head, text, WIDTH)


def _finding(finding: answer.Finding) -> Iterator[str]:
    signature = finding.failure.signature
    yield f"{finding.letter}  {clean(finding.failure.name)}  (case {finding.failure.case})"
    yield f"   {one_line(clean(signature.title), 160)}"
    for study in finding.failure.studies:
        for label, text in lines_of(study):
            yield from _wrapped(f"   {label}: ".ljust(14), text)
    for end in finding.ends:
        yield from _end(end)
    shown = shorten(clean(signature.text), FAILURE_LINES, WIDTH + 20)
    if len(shown) > 1:
        yield "   what it printed:"
        yield from (f"   | {line}" for line in shown)
    yield ""


def _end(end: answer.End) -> Iterator[str]:
    yield f"   {end.headline}"
    yield f"      {end.sure}"
    for side in end.sides:
        facts = [side.date or "", f"revision {side.revision}" if side.revision else "", side.note]
        described = "  ".join(fact for fact in facts if fact)
        yield f"      {side.label:>8}  {side.build}  {described}".rstrip()
    for group in end.holes:
        verb = f"could not be tested: {one_line(clean(group.reason), 200)}" if group.tried else group.told
        yield from _wrapped("      between:  ", f"{sentences.listed(group.builds, MOST_BUILDS)} {verb}")
    if end.hides:
        yield from _wrapped("      ", end.hides)
    for text in end.left_out:
        yield from _wrapped("      not considered: ", text)
    if end.compare:
        yield f"      compare:  {end.compare}"
    if end.commits:
        yield from commit_lines(end.commits, "      ")
    yield from _differences(end)


def commit_lines(commits: ShownCommits, indent: str) -> Iterator[str]:
    """How many commits there are, which to look at first and why, what is not known."""
    yield f"{indent}commits:  {commits.heading}{commits.first_says}"
    for number, one in enumerate(commits.first, 1):
        pull = f"{one.pull}  " if one.pull else ""
        head = f"{indent}  {number}. "
        yield from _wrapped(head, f"{one.short}  {pull}{one_line(one.title, 160)}  ({one_line(one.by, 120)})")
        remarks = "; ".join((*one.reasons[:MOST_REASONS], *one.remarks))
        if remarks:
            yield from _wrapped(" " * len(head), remarks)
    for note in commits.notes:
        yield from _wrapped(f"{indent}note:     ", note)


def _differences(end: answer.End) -> Iterator[str]:
    shown = end.differences[:MOST_DIFFERENCES]
    for number, one in enumerate(shown):
        label = "also new: " if number == 0 else "          "
        yield f"      {label}{one.name} {one.before or 'absent'} -> {one.after or 'absent'}"
        if one.compare:
            yield f"                its commits: {one.compare}"
    if len(end.differences) > len(shown):
        yield f"                and {len(end.differences) - len(shown)} more packages"


def _diagnoses(report: Report) -> Iterator[str]:
    for one in show_diagnoses(report):
        yield from _wrapped("", one.title)
        for label, text in one.facts:
            yield from _wrapped(f"   {label}: ".ljust(14), text)
        rows = [("rung", *one.builds), *one.rungs] if one.rungs else []
        widths = [max((len(clean(row[column])) for row in rows), default=0) for column in range(3)]
        for row in rows:
            yield "   " + "  ".join(clean(text).ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        yield from (f"   | {clean(line)}" for line in one.diff[:FAILURE_LINES])
        yield ""


def _timelines(report: Report) -> Iterator[str]:
    yield "timeline:"
    letters = timeline.letters(report)
    width = max(len(case.name) for case in report.cases)
    for case in report.cases:
        yield from _timeline(case, letters, width)
    legend = [f"{letter} {timeline.names(report)[name]}" for name, letter in letters.items() if letter != timeline.MANY]
    symbols = f"{timeline.PASS} pass  {timeline.FLAKY} flaky  {timeline.UNTESTABLE} untestable  {timeline.NOT_TRIED} not tried"
    yield f"   {symbols}  {'  '.join(legend)}".rstrip()
    yield ""


def _numbers(report: Report) -> Iterator[str]:
    """The numbers that were compared, in columns."""
    for table in numbers.tables(report):
        yield from _wrapped("", f"numbers: {table.title}")
        rows = [(*numbers.HEADINGS, ""), *((*row, word) for row, word in zip(table.rows, table.words, strict=True))]
        widths = [max(len(clean(row[column])) for row in rows) for column in range(len(rows[0]))]
        for row in rows:
            yield "   " + "  ".join(clean(text).ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        yield ""


def _timeline(case: CasePart, letters: dict[str, str], width: int) -> Iterator[str]:
    """One line for each case; a long one is folded under its name, one stretch after the other."""
    parts = [_stretch(stretch, letters) for stretch in timeline.stretches(case.timeline)]
    role = " (control)" if case.role == "control" else ""
    yield from _folded(f"   {case.name:<{width}}{role:<10}  ", parts)


def _stretch(stretch: timeline.Stretch, letters: dict[str, str]) -> str:
    symbol = timeline.symbol(stretch.state, stretch.failures, letters)
    if stretch.builds == 1:
        return f"{symbol} {stretch.first}"
    tried = f" ({stretch.tried} of {stretch.builds})" if 0 < stretch.tried < stretch.builds else f" ({stretch.builds})"
    return f"{symbol} {stretch.first} … {stretch.last}{tried}"


def _folded(head: str, parts: Iterable[str]) -> Iterator[str]:
    line = head
    for part in parts:
        if len(line) > len(head) and len(line) + len(part) > WIDTH:
            yield line.rstrip()
            line = " " * len(head)
        line += f"{part}   "
    yield line.rstrip()


def _notes(report: Report) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for case in report.cases:
        for entry in case.timeline:
            if entry.state == "untestable":
                builds = reasons.setdefault(one_line(clean(entry.reason or "no reason known"), 200), [])
                builds += [entry.build] if entry.build not in builds else []
    if reasons:
        yield "could not be tested:"
        yield from (f"   {sentences.listed(builds, MOST_BUILDS)}: {reason}" for reason, builds in reasons.items())
        yield ""
    said = [*report.range.notes, *report.advice]
    if said:
        yield "notes:"
        for text in said:
            yield from _wrapped("   ", text)
        yield ""


def _footer(report: Report) -> Iterator[str]:
    machine, counts = report.environment, report.counts
    stored = f", {sentences.plural(counts.trials_known, 'trial')} known before" if counts.trials_known else ""
    yield (
        f"work     {sentences.plural(counts.builds_considered, 'build')} considered, {counts.builds_installed} installed, "
        f"{sentences.plural(counts.trials, 'trial')} run{stored}, {sentences.duration(report.elapsed_s)}"
    )
    if report.time is not None:
        yield from _wrapped("time     ", where_time_went(report.time))
    driver = f", driver {machine.driver}" if machine.driver else ""
    cpu = "" if machine.device != "cpu" else f" ({machine.cpu})"
    yield from _wrapped(
        "machine  ", f"{machine.device}{cpu}{driver}, {machine.python}, {machine.platform}, {machine.tool}"
    )
    # One line, to be copied.
    yield f"repeat   {report.repeat}"
    if report.cache:
        yield f"logs     {report.cache}/trials"
