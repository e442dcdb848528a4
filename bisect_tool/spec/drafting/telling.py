"""What `bisect init` prints: what was found where, what was guessed and why, what was changed, what is left to do."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from bisect_tool.spec.drafting.draft import Draft
from bisect_tool.spec.drafting.finding import Found, How
from bisect_tool.spec.drafting.runner import REPORT, SCRIPT

_MOST_CHANGES = 40


def summary(draft: Draft, folder: str, files: Collection[str]) -> Iterator[str]:
    """The lines for the terminal; plain text, no line wider than it must be."""
    yield f"{draft.name}: {draft.title}" if draft.title else draft.name
    yield ""
    rows = list(_rows(draft))
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, told in rows:
        yield f"  {name.ljust(first)}  {value.ljust(min(second, 34))}  {told}"
    yield from _changes(draft)
    yield from _left_out(draft)
    if draft.todo:
        yield ""
        yield from (f"TO DO: {text}" for text in draft.todo)
    if draft.span.advice:
        yield ""
        yield f"later: {draft.span.advice}"
    yield ""
    yield f"written: {', '.join(f'{folder}/{name}' for name in files)}"
    yield f"next: read {folder}/spec.yaml, then `bisect try {folder}` and `bisect run {folder}`"


def _rows(draft: Draft) -> Iterator[tuple[str, str, str]]:
    yield "code", draft.source.value, draft.source.told
    yield "failure", draft.kind.value.value, draft.kind.told
    for failure in draft.failures:
        yield "", failure.value[0], failure.told
    yield "package", draft.package.value, draft.package.told
    yield "builds", _span(draft), draft.span.first.told
    if draft.span.channel.how is not How.DEFAULT:
        yield "", draft.span.channel.value, draft.span.channel.told
    yield "device", ", ".join(draft.devices.value), draft.devices.told
    yield "python", draft.python.value or "the tool's own", draft.python.told
    if draft.requires.value:
        yield "requires", ", ".join(draft.requires.value), draft.requires.told
    if draft.variables.value:
        yield "env", " ".join(f"{name}={value}" for name, value in draft.variables.value.items()), draft.variables.told
    for number, case in enumerate(draft.cases):
        role = " (must pass)" if case.value.is_control else ""
        yield "" if number else "cases", f"{case.value.name}{role}", case.told


def _span(draft: Draft) -> str:
    first, last = draft.span.first.value, draft.span.last.value
    return f"{draft.span.channel.value}, {f'from {first}' if first else 'walking back'}{f' to {last}' if last else ''}"


def _changes(draft: Draft) -> Iterator[str]:
    if not draft.changes and not draft.reasons:
        return
    yield ""
    file, why = REPORT if draft.runs_in_runner else SCRIPT, ", ".join(_why(one) for one in draft.reasons)
    yield f"changed in {file} ({why}){':' if draft.changes else ''}"
    yield from (f"  {line}" for line in draft.changes[:_MOST_CHANGES])
    if len(draft.changes) > _MOST_CHANGES:
        yield f"  … and {len(draft.changes) - _MOST_CHANGES} more lines"


def _why(reason: Found[str]) -> str:
    return reason.why


def _left_out(draft: Draft) -> Iterator[str]:
    if draft.left_out:
        yield ""
        yield "other code that was not taken:"
        yield from (f"  line {line}: {why}" for line, why in draft.left_out[:8])
