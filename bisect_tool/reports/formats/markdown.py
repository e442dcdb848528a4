"""Markdown, to paste into an issue under "Bisecting". Text from outside can neither format, link nor call anybody."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bisect_tool.reports import answer, numbers, sentences, timeline
from bisect_tool.reports.cleaning import clean, one_line, shorten
from bisect_tool.reports.commit_lines import ShownCommit, ShownCommits
from bisect_tool.reports.diagnosis_lines import ShownDiagnosis, show_diagnoses
from bisect_tool.reports.rates import lines_of
from bisect_tool.reports.report import CasePart, Report
from bisect_tool.reports.time_line import where_time_went

SUFFIX = ".md"
LONG = 12  # stretches; a longer timeline is folded away
FAILURE_LINES = 40
MOST_REASONS = 4
MOST_COMMITS = 100  # an issue takes 65,536 characters
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~!&])")
_CALLS = re.compile(r"([@#])(?=\w)")
_AUTOLINKS = re.compile(r"\b(?=(?:GH-|https?:|www\.))", re.IGNORECASE)
ZERO_WIDTH = "\u200b"


def render(report: Report) -> str:
    """The report as Markdown."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def escape(text: str) -> str:
    """Text from outside on one line: no formatting, no mention, no reference, no link."""
    flat = _SPECIAL.sub(r"\\\1", one_line(clean(text), 300))
    return _AUTOLINKS.sub(ZERO_WIDTH, _CALLS.sub(rf"\1{ZERO_WIDTH}", flat))


def code(text: str) -> str:
    """Text from outside as a code span that nothing inside it can close."""
    return f"`{one_line(clean(text), 100).replace('`', '')}`"


def fenced(lines: tuple[str, ...]) -> Iterator[str]:
    """Lines in a fence that nothing inside them can close."""
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text"
    yield from lines
    yield fence


def _lines(report: Report) -> Iterator[str]:
    yield "### Bisecting"
    yield ""
    yield from (f"- {escape(sentence)}" for sentence in answer.summary(report))
    for stage in report.stages:
        said = " ".join(stage.summary)
        yield f"- channel {escape(stage.channel)}, {code(stage.first)} to {code(stage.last)}: {escape(said)}"
    yield ""
    for finding in answer.findings(report):
        yield from _finding(finding)
    for diagnosis in show_diagnoses(report):
        yield from _diagnosis(diagnosis)
    yield from _timelines(report)
    yield from _numbers(report)
    yield from _footer(report)


def _finding(finding: answer.Finding) -> Iterator[str]:
    yield f"#### {finding.letter}: {escape(finding.failure.name)}"
    yield ""
    yield "| change | without | with | how sure | commits |"
    yield "|---|---|---|---|---|"
    for end in finding.ends:
        sides = {side.label: _side(side) for side in end.sides}
        link = f"[compare]({end.compare})" if end.compare else ""
        yield f"| {escape(end.headline)} | {sides.get('without', '')} | {sides.get('with', '')} | {escape(end.sure)} | {link} |"
    yield ""
    told = [f"{label}: {text}" for study in finding.failure.studies for label, text in lines_of(study)]
    yield from (f"- {escape(text)}" for text in told)
    if told:
        yield ""
    for end in finding.ends:
        yield from _details(end)
    shown = shorten(clean(finding.failure.signature.text), FAILURE_LINES, 200)
    yield from fenced(shown or (one_line(clean(finding.failure.signature.title)),))
    yield ""


def _side(side: answer.Side) -> str:
    facts = [code(side.build), side.date or "", code(side.revision) if side.revision else "", side.note]
    return " ".join(fact for fact in facts if fact)


def _details(end: answer.End) -> Iterator[str]:
    notes = [f"{sentences.listed(group.builds)}: {group.told}" for group in end.holes]
    notes += [end.hides, *(f"not considered: {text}" for text in end.left_out)]
    notes = [note for note in notes if note]
    yield from (f"- {escape(note)}" for note in notes)
    if notes:
        yield ""
    if end.commits:
        yield from _commits(end.commits)
    if end.differences:
        yield f"<details><summary>{len(end.differences)} other differences between the two environments</summary>"
        yield ""
        yield "| package | before | after |"
        yield "|---|---|---|"
        for one in end.differences:
            link = f" ([commits]({one.compare}))" if one.compare else ""
            yield f"| {escape(one.name)} | {escape(one.before or 'absent')} | {escape(one.after or 'absent')}{link} |"
        yield ""
        yield "</details>"
        yield ""


def _commits(commits: ShownCommits) -> Iterator[str]:
    """The commits to look at first with their reasons, the whole list folded away."""
    yield f"Between the two builds: {commits.heading}{commits.first_says or '.'}"
    yield ""
    yield from (f"{number}. {_commit(one)}{_reasons(one)}" for number, one in enumerate(commits.first, 1))
    yield from ([""] if commits.first else [])
    yield from (f"- {escape(note)}" for note in commits.notes)
    yield from ([""] if commits.notes else [])
    if len(commits.every) > len(commits.first):
        yield "<details><summary>All commits, oldest first</summary>"
        yield ""
        yield from (f"- {_commit(one)}" for one in commits.every[:MOST_COMMITS])
        left = len(commits.every) - MOST_COMMITS
        yield from ([f"- and {left} more"] if left > 0 else [])
        yield ""
        yield "</details>"
        yield ""


def _commit(one: ShownCommit) -> str:
    sha = f"[{code(one.short)}]({one.link})" if one.link else code(one.short)
    pull = f" [{escape(one.pull)}]({one.pull_link})" if one.pull_link else ""
    remarks = f" ({'; '.join(escape(remark) for remark in one.remarks)})" if one.remarks else ""
    return f"{sha}{pull} {escape(one.title)}, {escape(one.by)}{remarks}"


def _reasons(one: ShownCommit) -> str:
    return f": {'; '.join(escape(reason) for reason in one.reasons[:MOST_REASONS])}" if one.reasons else ""


def _diagnosis(one: ShownDiagnosis) -> Iterator[str]:
    yield f"#### {escape(one.title[0].upper() + one.title[1:])}"
    yield ""
    yield from (f"- {label}: {escape(text)}" for label, text in one.facts)
    yield ""
    if one.rungs:
        yield f"| rung | {code(one.builds[0])} | {code(one.builds[1])} |"
        yield "|---|---|---|"
        yield from (f"| {' | '.join(map(escape, row))} |" for row in one.rungs)
        yield ""
    if one.diff:
        yield "<details><summary>How the code differs</summary>"
        yield ""
        yield from fenced(tuple(clean(line) for line in one.diff))
        yield ""
        yield "</details>"
        yield ""


def _timelines(report: Report) -> Iterator[str]:
    names, letters = timeline.names(report), timeline.letters(report)
    long = any(len(timeline.stretches(case.timeline)) > LONG for case in report.cases)
    if long:
        yield "<details><summary>Timeline of every case</summary>"
        yield ""
    yield "| case | builds | state |"
    yield "|---|---|---|"
    for case in report.cases:
        yield from _rows(case, names, letters)
    yield ""
    if long:
        yield "</details>"
        yield ""


def _numbers(report: Report) -> Iterator[str]:
    for table in numbers.tables(report):
        yield escape(table.title)
        yield ""
        yield f"| {' | '.join(numbers.HEADINGS)} | |"
        yield f"|{'---|' * (len(numbers.HEADINGS) + 1)}"
        for row, word in zip(table.rows, table.words, strict=True):
            yield f"| {code(row[0])} | {' | '.join(map(escape, row[1:]))} | {word} |"
        yield ""


def _rows(case: CasePart, names: dict[str, str], letters: dict[str, str]) -> Iterator[str]:
    for number, stretch in enumerate(timeline.stretches(case.timeline)):
        label = f"{escape(case.name)}{' (control)' if case.role == 'control' else ''}" if number == 0 else ""
        ends = (
            code(stretch.first)
            if stretch.builds == 1
            else f"{code(stretch.first)} … {code(stretch.last)} ({stretch.builds})"
        )
        symbol = timeline.symbol(stretch.state, stretch.failures, letters)
        yield f"| {label} | {ends} | {escape(f'{symbol} {sentences.stretch_state(stretch, names)}')} |"


def _footer(report: Report) -> Iterator[str]:
    machine, counts = report.environment, report.counts
    device = machine.device if machine.device != "cpu" else f"cpu ({machine.cpu})"
    yield f"Machine: {escape(device)}, {escape(machine.python)}, {escape(machine.platform)}; {escape(machine.tool)}."
    yield (
        f"{counts.builds_considered} builds considered, {counts.builds_installed} installed, "
        f"{counts.trials + counts.trials_known} trials."
        f"{f' Time: {escape(where_time_went(report.time))}.' if report.time else ''} Repeat with:"
    )
    yield ""
    yield from fenced((clean(report.repeat),))
    for text in (*report.range.notes, *report.advice):
        yield f"- {escape(text)}"
