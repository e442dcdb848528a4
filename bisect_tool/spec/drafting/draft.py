"""From a report to a draft: every field of a spec with where it came from, and the text of its scripts."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bisect_tool.errors import SpecError
from bisect_tool.spec.drafting import checking
from bisect_tool.spec.drafting.blocks import Divided, Origin, divide, parsed
from bisect_tool.spec.drafting.cases import DraftCase, make_cases, needs_runner
from bisect_tool.spec.drafting.code import Chosen, Repro, choose
from bisect_tool.spec.drafting.devices import CHOSEN, Placed, place
from bisect_tool.spec.drafting.edits import Edit, Offsets, applied, shown_changes
from bisect_tool.spec.drafting.expected import Kind, Raised, find_kind, find_raised, match_of, name_of
from bisect_tool.spec.drafting.finding import Found, default, found, guessed
from bisect_tool.spec.drafting.names import compiles, imported
from bisect_tool.spec.drafting.report import LONGEST_LINE, Report
from bisect_tool.spec.drafting.said import read_builds
from bisect_tool.spec.drafting.span import Span, span_of
from bisect_tool.spec.drafting.spoken import Spoken, speak
from bisect_tool.spec.drafting.surroundings import (
    command_lines,
    find_environment,
    find_hold,
    find_package,
    find_python,
    find_requires,
    find_source,
    own_files,
)

Lines = list[tuple[int, str]]


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


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of a report before anything is made of it."""

    report: Report
    prose: Lines
    code_lines: Lines
    package: Found[str]
    chosen: Chosen
    spoken: Spoken | None
    raised: Raised | None
    kind: Found[Kind]

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


def make_draft(report: Report) -> Draft:
    """The draft of a report.

    Raises:
        SpecError: there is no code that can be run; the message says what was looked at and why it was not taken.
    """
    read = _read(report)
    if read.chosen.repro is not None:
        return _of_code(read, read.chosen.repro)
    if read.spoken is not None:
        return _of_words(read, read.spoken)
    raise _without_code(report, read.chosen)


def _read(report: Report) -> _Read:
    divided = divide(report)
    prose, code_lines = _divided_lines(report, divided)
    first_look = choose(report, divided, None)
    modules = imported(first_look.repro.tree) if first_look.repro else ()
    package = find_package(modules, report.repository, report.text)
    chosen = choose(report, divided, package.value)
    if chosen.repro is None and divided.refused:
        chosen = Chosen(
            None, tuple(sorted({*chosen.others, *((n, f"no Python: {why}") for n, why in divided.refused)}))
        )
    raised = find_raised(prose, code_lines)
    kind = _kind(report, prose, raised, chosen.repro)
    spoken = None if chosen.repro else speak(report.title, prose)
    return _Read(report, prose, code_lines, package, chosen, spoken, raised, kind)


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


def _of_code(read: _Read, repro: Repro) -> Draft:
    failure = read.failure if read.kind.value is Kind.EXCEPTION else ""
    placed = place(repro.text, repro.tree, failure, repro.first)
    checked, todo = _checked(read, repro)
    text = applied(repro.text, [*placed.edits, *(checked.edits if checked else ()), *_device_lines(repro, placed)])
    where = f"lines {repro.first} to {repro.last}" if repro.last > repro.first else f"line {repro.first}"
    source = found(where, "code-choice", _why_chosen(repro), repro.first)
    reasons = [*_reasons(repro, placed, checked)]
    return _assembled(read, text, source, placed.devices, checked, todo, reasons, shown_changes(_original(repro), text))


def _original(repro: Repro) -> str:
    """The code as it stands in the report."""
    lead = "\n".join(repro.lead) + "\n" if repro.lead else ""
    return repro.text.replace(lead, "", 1) if lead else repro.text


def _why_chosen(repro: Repro) -> str:
    if repro.origin is Origin.SCRIPT:
        return "the whole script"
    return f"{repro.origin.value}; it {', '.join(_third_person(reason) for reason in repro.reasons[:3])}"


def _third_person(reason: str) -> str:
    return reason.split(", or ", maxsplit=1)[0]


def _reasons(repro: Repro, placed: Placed, checked: checking.Checked | None) -> list[Found[str]]:
    reasons = []
    if repro.lead:
        reasons.append(guessed("imports", "code-imports", "imports that the report leaves out"))
    if repro.joined > 1:
        reasons.append(guessed("pieces", "code-joined", f"{repro.joined} pieces of code together define what they use"))
    if repro.mended:
        reasons.append(guessed("typography", "code-mended", repro.mended))
    if placed.edits:
        reasons.append(guessed("device", "device-either", "the tool chooses the device"))
    if checked:
        reasons.append(guessed("exit status", checked.rule, checked.why))
    return reasons


def _device_lines(repro: Repro, placed: Placed) -> list[Edit]:
    """The lines that ask for the device, after the first imports."""
    if not placed.edits:
        return []
    text = f'import os  {checking.MARK}\n\n{CHOSEN} = os.environ.get("BISECT_DEVICE", "cuda")  {checking.MARK}\n'
    offsets = Offsets(repro.text)
    last: ast.stmt | None = None
    for node in repro.tree.body:
        is_doc = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not isinstance(node, (ast.Import, ast.ImportFrom)) and not is_doc:
            break
        last = node
    at = offsets.line_after(last) if last else 0
    return [Edit(at, at, text, "the tool chooses the device")]


def _checked(read: _Read, repro: Repro) -> tuple[checking.Checked | None, list[str]]:
    """The checks that are added, and what the user has to do because none could be."""
    kind = read.kind.value
    if kind is Kind.EXCEPTION:
        return (checking.raise_again(repro.text, repro.tree) if read.raised else None), []
    if checking.judges(repro.tree):
        return None, []
    if kind is Kind.WRONG:
        checked = checking.check_values(repro.text, repro.tree)
        return checked, ([] if checked else [_NEEDS_ASSERT])
    return None, [_TODO[kind]] if kind in _TODO else []


_HANG_SECONDS = 60
_NEEDS_ASSERT = (
    "the script prints wrong values and ends as if all were well: add an assertion that says what is right, such as "
    "`torch.testing.assert_close(actual, expected)`; until then every build passes"
)
_TODO = {
    Kind.SLOW: (
        "a slow build passes: let the script report its time (`metrics:` and `$BISECT_CHECKS`, docs/metrics.md) or assert a "
        "bound"
    ),
    Kind.MEMORY: (
        "a build that takes too much memory passes: assert a bound, or use `metrics:` with `peak_memory_bytes` "
        "(docs/metrics.md)"
    ),
    Kind.WARNING: 'a warning passes: add `warnings.simplefilter("error")` at the top, or assert on what was warned',
}


def _of_words(read: _Read, spoken: Spoken) -> Draft:
    tree = parsed(spoken.text)
    assert tree is not None
    repro = Repro(spoken.text, tree, spoken.line, spoken.line, Origin.BARE)
    placed = place(spoken.text, tree, read.failure, spoken.line)
    text = applied(spoken.text, [*placed.edits, *_device_lines(repro, placed)])
    why = f"no code shows the failure; made of the words {spoken.operation}, {spoken.input}, compiled"
    source = guessed("made of words", "code-spoken", why, spoken.line or None)
    todo = [
        f"the report has no code of the failure: report.py was made of its words ({spoken.operation} on {spoken.input}). "
        "See that a build that fails fails with the message of the report"
    ]
    checked = checking.Checked((), "code-spoken", "compiled and eager must agree", "wrong values: ")
    reasons = [guessed("script", "code-spoken", why)]
    return _assembled(read, text, source, placed.devices, checked, todo, reasons, [], spoken)


def _assembled(
    read: _Read,
    text: str,
    source: Found[str],
    devices: Found[tuple[str, ...]],
    checked: checking.Checked | None,
    todo: list[str],
    reasons: list[Found[str]],
    changes: Sequence[str],
    spoken: Spoken | None = None,
) -> Draft:
    report, tree = read.report, parsed(text)
    assert tree is not None
    commands = command_lines(read.prose)
    cases = make_cases(tree, text, read.prose, read.blamed, commands)
    if spoken and spoken.other_shape:
        control = DraftCase("one-dim", ("--replace", *spoken.other_shape), is_control=True)
        cases.insert(-1, guessed(control, "case-shape", "the report says that a dimension makes it work"))
    modules = imported(tree)
    todo += [
        f"the code imports `{name}`, a file that the report does not have: add it to the folder"
        for name in own_files(modules)
    ]
    span = span_of(read_builds(read.prose, read.package.value), report.opened)
    return Draft(
        name=report.name,
        title=report.title,
        issue=report.address,
        source=source,
        package=read.package,
        kind=read.kind,
        span=span,
        devices=devices,
        python=find_python(read.prose),
        requires=find_requires(modules, read.package.value, None),
        hold=find_hold(modules, read.package.value),
        variables=find_environment(read.prose),
        repository=find_source(read.package.value, report.repository),
        timeout=_timeout(read.kind, tree),
        cases=tuple(cases),
        failures=tuple(_failures(read, checked)),
        code=text,
        runs_in_runner=needs_runner(cases),
        changes=tuple(changes),
        reasons=tuple(reasons),
        todo=tuple(todo),
        left_out=read.chosen.others,
    )


def _timeout(kind: Found[Kind], tree: ast.Module) -> Found[int | None]:
    """Seconds for a trial; compiling may take minutes on a busy machine, so that such scripts keep the usual limit."""
    if kind.value is Kind.HANG and not compiles(tree):
        return guessed(_HANG_SECONDS, "timeout-hang", "each trial of a build that hangs takes so long")
    return default(None, "timeout-hang", "the usual one")


def _failures(read: _Read, checked: checking.Checked | None) -> list[Found[tuple[str, str]]]:
    failures = []
    raised = read.raised
    if (raised and read.kind.value is not Kind.WRONG) or (raised and raised.cause == "AssertionError" and not checked):
        failures.append(
            found(
                (name_of(raised), match_of(raised)),
                "expected-message",
                f"the report quotes {raised.shown[:60]!r}",
                raised.line,
            )
        )
    if checked and checked.words:
        failures.append(guessed(("wrong-values", checked.words.strip()), "expected-check", "what the added check says"))
    return failures


def _without_code(report: Report, chosen: Chosen) -> SpecError:
    looked = [f"  line {line}: {why}" for line, why in chosen.others[:10]]
    what = "the script cannot be used" if report.is_script else "no code in this report can be run as a script"
    advice = (
        "correct the script"
        if report.is_script
        else "put a complete script that fails into the report, between ``` fences, or give the script itself: "
        "`bisect init repro.py`"
    )
    return SpecError("\n".join([what, *looked]), advice=advice)
