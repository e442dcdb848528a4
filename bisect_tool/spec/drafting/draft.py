"""From a report to a draft: every field of a spec with where it came from, and the text of its scripts."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from bisect_tool.spec.drafting.cases import DraftCase, make_cases, needs_runner
from bisect_tool.spec.drafting.chores import chores
from bisect_tool.spec.drafting.evidence import Evidence, gather
from bisect_tool.spec.drafting.expected import Kind, match_of, name_of, signal_of
from bisect_tool.spec.drafting.finding import Found, default, found, guessed
from bisect_tool.spec.drafting.names import compiles, imported
from bisect_tool.spec.drafting.refusal import refused, too_deep
from bisect_tool.spec.drafting.report import Report
from bisect_tool.spec.drafting.said import read_builds
from bisect_tool.spec.drafting.script import Script, of_code, of_words
from bisect_tool.spec.drafting.span import Span, span_of
from bisect_tool.spec.drafting.surroundings import (
    command_lines,
    find_environment,
    find_hold,
    find_python,
    find_requires,
    find_source,
)

HANG_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Draft:
    """A spec in the making. `code` is that of the report with its changes; `changes` are these, line by line.

    `failures` are (name, regular expression). `todo` is what only the user can do; `left_out` (line, reason) is code of the
    report that is not used.
    """

    name: str
    title: str
    issue: str | None
    source: Found[str]
    package: Found[str]
    kind: Found[Kind]
    span: Span
    devices: Found[tuple[str, ...]]
    python: Found[str | None]
    requires: Found[tuple[str, ...]]
    hold: Found[tuple[str, ...]]
    variables: Found[Mapping[str, str]]
    repository: Found[str | None]
    timeout: Found[int | None]
    cases: tuple[Found[DraftCase], ...]
    failures: tuple[Found[tuple[str, str]], ...]
    code: str
    runs_in_runner: bool
    changes: tuple[str, ...]
    reasons: tuple[Found[str], ...]
    todo: tuple[str, ...]
    left_out: tuple[tuple[int, str], ...]


def make_draft(report: Report) -> Draft:
    """The draft of a report.

    Raises:
        SpecError: there is no code that can be run; the message says what was looked at and why it was not taken.
            Or an expression is nested deeper than the rules can follow.
    """
    try:
        return _drafted(report)
    except RecursionError:
        raise too_deep() from None


def _drafted(report: Report) -> Draft:
    evidence = gather(report)
    if evidence.chosen.repro is not None:
        return _assembled(evidence, of_code(evidence, evidence.chosen.repro))
    if evidence.spoken is not None:
        return _assembled(evidence, of_words(evidence, evidence.spoken))
    raise refused(report, evidence.chosen)


def _assembled(evidence: Evidence, script: Script) -> Draft:
    report, tree, package = evidence.report, script.tree, evidence.package.value
    modules = imported(tree)
    cases = _cases(evidence, script, tree)
    return Draft(
        name=report.name,
        title=report.title,
        issue=report.address,
        source=script.source,
        package=evidence.package,
        kind=evidence.kind,
        span=span_of(read_builds(evidence.said, package), report.opened),
        devices=script.devices,
        python=find_python(evidence.said),
        requires=find_requires(modules, package, None),
        hold=find_hold(modules, package),
        variables=find_environment(evidence.prose),
        repository=find_source(package, report.repository),
        timeout=_timeout(evidence.kind, tree),
        cases=tuple(cases),
        failures=tuple(_failures(evidence, script)),
        code=script.text,
        runs_in_runner=needs_runner(cases),
        changes=script.changes,
        reasons=script.reasons,
        todo=(*script.todo, *chores(evidence, tree)),
        left_out=evidence.chosen.others,
    )


def _cases(evidence: Evidence, script: Script, tree: ast.Module) -> list[Found[DraftCase]]:
    cases = make_cases(tree, script.text, evidence.prose, evidence.blamed, command_lines(evidence.prose))
    if script.spoken and script.spoken.other_shape:
        control = DraftCase("one-dim", ("--replace", *script.spoken.other_shape), is_control=True)
        cases.insert(-1, guessed(control, "case-shape", "the report says that a dimension makes it work"))
    return cases


def _timeout(kind: Found[Kind], tree: ast.Module) -> Found[int | None]:
    """Seconds for a trial; compiling may take minutes on a busy machine, so that such scripts keep the usual limit."""
    if kind.value is Kind.HANG and not compiles(tree):
        return guessed(HANG_SECONDS, "timeout-hang", "each trial of a build that hangs takes so long")
    return default(None, "timeout-hang", "the usual one")


def _failures(evidence: Evidence, script: Script) -> list[Found[tuple[str, str]]]:
    failures = []
    raised, kind, checked = evidence.raised, evidence.kind.value, script.checked
    if raised and (kind is not Kind.WRONG or (raised.cause == "AssertionError" and not checked)):
        why = f"the report quotes {raised.shown[:60]!r}"
        failures.append(found((name_of(raised), match_of(raised)), "expected-message", why, raised.line))
    elif kind is Kind.CRASH and (signal := signal_of(evidence.report.title, evidence.prose)):
        failures.append(found((signal[0], signal[1]), "expected-signal", "the report names it", signal[2]))
    if checked and checked.words:
        failures.append(guessed(("wrong-values", checked.words.strip()), "expected-check", "what the added check says"))
    return failures
