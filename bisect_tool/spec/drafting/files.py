"""A draft as the text of its files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bisect_tool.spec.drafting.cases import DraftCase
from bisect_tool.spec.drafting.draft import Draft
from bisect_tool.spec.drafting.finding import Found, How
from bisect_tool.spec.drafting.runner import REPORT, RUNNER, SCRIPT

SPEC = "spec.yaml"
_COLUMN = 40
_LONGEST_COMMENT = 150
_PLAIN = re.compile(r"(?![-?:]\s)(?!~)[A-Za-z_/-][A-Za-z0-9_./+=-]*\Z")
_TAKEN = {"yes", "no", "on", "off", "true", "false", "null", "y", "n"}


def files_of(draft: Draft) -> dict[str, str]:
    """Name → text: `spec.yaml`, `repro.py`, and `report.py` where the repro runs the code of the report in other ways."""
    files = {SPEC: spec_text(draft)}
    if draft.runs_in_runner:
        return {**files, SCRIPT: RUNNER, REPORT: draft.code}
    return {**files, SCRIPT: draft.code}


def spec_text(draft: Draft) -> str:
    """`spec.yaml`, with how each value was come by behind it."""
    lines = ["# Drafted by `bisect init`. What is guessed says so: look at that first.", *_todo(draft)]
    lines += [
        f"name: {scalar(draft.name)}",
        *([f"title: {json.dumps(draft.title, ensure_ascii=False)}"] if draft.title else []),
    ]
    if draft.issue:
        lines.append(f"issue: {scalar(draft.issue)}")
    lines += [*_where(draft), *_how(draft), *_cases(draft), *_failures(draft)]
    return "\n".join(lines) + "\n"


def _todo(draft: Draft) -> Iterator[str]:
    for text in draft.todo:
        words, line = text.split(), "# TO DO:"
        for word in words:
            if len(line) + len(word) > 118:
                yield line
                line = "#  "
            line += f" {word}"
        yield line


def _where(draft: Draft) -> Iterator[str]:
    span = draft.span
    yield _line("package", scalar(draft.package.value), draft.package)
    if draft.repository.value is not None:
        yield _line("source", scalar(draft.repository.value), draft.repository)
    yield _line("channel", scalar(span.channel.value), span.channel)
    yield _line("from", None if span.first.value is None else json.dumps(span.first.value), span.first)
    yield _line("to", None if span.last.value is None else json.dumps(span.last.value), span.last)
    if span.advice:
        yield f"# {span.advice}"
    yield _line("device", f"[{', '.join(draft.devices.value)}]", draft.devices)


def _how(draft: Draft) -> Iterator[str]:
    if draft.python.value is not None:
        yield _line("python", json.dumps(draft.python.value), draft.python)
    if draft.requires.value:
        yield _line("requires", _list(draft.requires.value), draft.requires)
    if draft.hold.value:
        yield _line("hold", _list(draft.hold.value), draft.hold)
    if draft.variables.value:
        yield _line("env", _mapping(draft.variables.value), draft.variables)
    if draft.timeout.value is not None:
        yield _line("timeout", str(draft.timeout.value), draft.timeout)
    yield _line("script", SCRIPT, draft.source)
    if draft.runs_in_runner:
        yield f"files: [{REPORT}]"


def _cases(draft: Draft) -> Iterator[str]:
    yield "cases:"
    for case in draft.cases:
        yield _commented(f"  - {_case(case.value)}", case)


def _case(case: DraftCase) -> str:
    parts = [f"name: {scalar(case.name)}"]
    if case.args:
        parts.append(f"args: {_list(case.args)}")
    if case.is_control:
        parts.append("role: control")
    return "{" + ", ".join(parts) + "}"


def _failures(draft: Draft) -> Iterator[str]:
    if draft.failures:
        yield "failures:"
    for failure in draft.failures:
        name, match = failure.value
        yield _commented(f"  - {{name: {scalar(name)}, match: {json.dumps(match, ensure_ascii=False)}}}", failure)


def _line(key: str, value: str | None, found: Found[Any]) -> str:
    """`key: value`; a key that is left out becomes a comment that says why."""
    if value is None:
        return f"# {key}: left out, {found.why}"
    return _commented(f"{key}: {value}", found)


def _commented(text: str, found: Found[Any]) -> str:
    if found.how is How.DEFAULT:
        return text
    told = " ".join(found.told.split())
    told = told if len(told) <= _LONGEST_COMMENT else told[: _LONGEST_COMMENT - 1] + "…"
    return f"{text.ljust(_COLUMN)}  # {told}"


def scalar(text: str) -> str:
    """A value of YAML that every reader takes for this text."""
    plain = _PLAIN.match(text) is not None and text.lower() not in _TAKEN
    return text if plain else json.dumps(text, ensure_ascii=False)


def _list(words: tuple[str, ...]) -> str:
    return "[" + ", ".join(scalar(word) for word in words) + "]"


def _mapping(values: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()) + "}"
