"""What is read of a report before anything is made of it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from bisect_tool.spec.drafting import checking
from bisect_tool.spec.drafting.blocks import Divided, divide, parsed
from bisect_tool.spec.drafting.code import Chosen, Repro, choose
from bisect_tool.spec.drafting.expected import Kind, Raised, find_kind, find_raised, is_the_failure, speaks_of_warnings
from bisect_tool.spec.drafting.finding import Found, default, guessed
from bisect_tool.spec.drafting.names import imported
from bisect_tool.spec.drafting.report import LONGEST_LINE, Report
from bisect_tool.spec.drafting.spoken import Spoken, speak
from bisect_tool.spec.drafting.surroundings import find_package

Lines = list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A report as far as it was understood: its sentences and its code, numbered, the repro, the failure and its kind.

    `raised` is the exception that is the failure; `cut` says which lines of the repro are no Python and were left out.
    """

    report: Report
    prose: Lines
    package: Found[str]
    chosen: Chosen
    spoken: Spoken | None
    raised: Raised | None
    kind: Found[Kind]
    cut: tuple[str, ...]

    @property
    def said(self) -> Lines:
        """The title as line 0, unless it is one of the sentences, and the sentences."""
        return _with_title(self.report, self.prose)

    @property
    def blamed(self) -> str:
        """The title and the failure as the report quotes it."""
        quoted = [line for _, line in self.prose if "_inductor" in line or "_dynamo" in line][:50]
        raised = f"{' '.join(self.raised.types)} {self.raised.message}" if self.raised else ""
        return "\n".join([self.report.title, raised, *(line[:LONGEST_LINE] for line in quoted)])

    @property
    def failure(self) -> str:
        """What the report quotes of the exception itself, with its place."""
        near = self.raised.line if self.raised else 0
        around = [
            line
            for number, line in self.prose
            if near and near - 4 <= number <= near and line.lstrip().startswith("File")
        ]
        return "\n".join([*(line[:LONGEST_LINE] for line in around), self.raised.shown if self.raised else ""])


def gather(report: Report) -> Evidence:
    """All that the rules find in a report."""
    divided = divide(report)
    prose, code_lines = _divided_lines(report, divided)
    first_look = choose(report, divided, None)
    modules = imported(first_look.repro.tree) if first_look.repro else ()
    package = find_package(modules, report.repository, report.text)
    chosen = choose(report, divided, package.value)
    if chosen.repro is None and divided.refused:
        refused = {(one.line, f"no Python: {one.why}") for one in divided.refused}
        chosen = Chosen(None, tuple(sorted({*chosen.others, *refused})))
    raised = find_raised(_with_title(report, prose), code_lines, is_warning=speaks_of_warnings(report.title, prose))
    kind = _kind(report, prose, raised, chosen.repro)
    raised = raised if raised and is_the_failure(raised, kind.value) else None
    spoken = None if chosen.repro else speak(report.title, prose)
    return Evidence(report, prose, package, chosen, spoken, raised, kind, _cut(divided, chosen.repro))


def _with_title(report: Report, prose: Lines) -> Lines:
    title = report.title[:60].rstrip("…")
    return prose if any(title in line for _, line in prose[:10]) else [(0, report.title), *prose]


def _cut(divided: Divided, repro: Repro | None) -> tuple[str, ...]:
    """The lines among those of the repro that are no Python; what comes after its end is text that nobody misses."""
    if repro is None or not repro.fence:
        return ()
    lost = [one for one in divided.refused if one.fence == repro.fence and one.line <= repro.last]
    return tuple(f"line {one.line} of the report is no Python ({one.why})" for one in lost)


def _kind(report: Report, prose: Lines, raised: Raised | None, repro: Repro | None) -> Found[Kind]:
    kind, words, line = find_kind(report.title, prose, raised)
    if words:
        return guessed(kind, "kind", f'the words "{words[:60]}"', line)
    if repro and not checking.judges(repro.tree) and checking.check_values(repro.text, repro.tree):
        return guessed(Kind.WRONG, "kind", "the script compares values")
    return default(kind, "kind", "whatever ends the script with an error")


def _divided_lines(report: Report, divided: Divided) -> tuple[Lines, Lines]:
    """(prose, code), each as (number, line). The prose of a script are its comments and what it says of itself."""
    numbered = list(enumerate(report.lines, start=1))
    quoted = re.compile(r"^\s*(?:>\s?)+(?!>)")
    if report.is_script:
        code = numbered
        return [(number, line.partition("#")[2]) for number, line in numbered if "#" in line] + _docstring(report), code
    code = [(number, line) for number, line in numbered if number in divided.covered]
    prose = [
        (number, quoted.sub("", line)) for number, line in numbered if number not in divided.covered and line.strip()
    ]
    return prose, code


def _docstring(report: Report) -> Lines:
    tree = parsed(report.text)
    text = ast.get_docstring(tree) if tree else None
    return [(number, line) for number, line in enumerate((text or "").split("\n"), start=1)] if text else []
