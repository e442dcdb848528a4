"""The form in which a question is asked: from its fields to a submission, and from the mistakes back to their places. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bisect_tool.errors import SpecError
from bisect_tool.service.question import Submission
from bisect_tool.service.unpacking import unpack

SPEC = "spec.yaml"
SCRIPT_NAME = "repro.py"
EXAMPLE = """\
name: my-failure
title: What goes wrong, in one sentence
package: torch
channel: nightly
from: 2026-11-01  # left out: it is looked for
script: repro.py
timeout: 300
"""
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
_PLACED = re.compile(r"^\s*line (?P<line>\d+)(?:, column \d+)?(?:, (?P<key>[^:]+))?: (?P<text>.*)$")


@dataclass(frozen=True, slots=True)
class PlacedMistake:
    """One mistake; `line` counts from 1, None where the spec has no such place."""

    text: str
    line: int | None


@dataclass(frozen=True, slots=True)
class FormProblem:
    """Why the question was not taken."""

    what: str
    mistakes: tuple[PlacedMistake, ...]
    advice: str


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A line of the spec with the mistakes that were made there."""

    text: str
    mistakes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskForm:
    """What the form holds, and what was wrong with it."""

    spec: str = EXAMPLE
    script: str = ""
    script_name: str = SCRIPT_NAME
    problem: FormProblem | None = None

    @property
    def lines(self) -> tuple[MarkedLine, ...]:
        """The spec with its mistakes at their lines; empty when none of them has a line."""
        mistakes = [one for one in (self.problem.mistakes if self.problem else ()) if one.line is not None]
        if not mistakes:
            return ()
        return tuple(
            MarkedLine(text, tuple(one.text for one in mistakes if one.line == number))
            for number, text in enumerate(self.spec.splitlines(), 1)
        )


def submission_of(form: AskForm, uploads: Sequence[tuple[str, bytes]]) -> tuple[AskForm, Submission]:
    """The submission, and the form as it is then: what was uploaded takes the place of what was pasted.

    Raises `SpecError` for a spec that is no text, and an archive that is not taken.
    """
    if len(uploads) == 1 and uploads[0][0].endswith(ARCHIVES):
        unpacked = unpack(uploads[0][1])
        return AskForm(unpacked.spec, form.script, form.script_name), unpacked
    files = dict(uploads)
    uploaded = files.pop(SPEC, None)
    if uploaded is not None:
        form = AskForm(_decoded(uploaded), form.script, form.script_name)
    spec = form.spec.replace("\r\n", "\n")  # forms send these line ends
    script = form.script.replace("\r\n", "\n")
    if script.strip() and form.script_name not in files:
        files[form.script_name.strip() or SCRIPT_NAME] = script.encode("utf-8", "surrogatepass")
    return AskForm(spec, script, form.script_name), Submission(spec, tuple(sorted(files.items())))


def problem_of(error: SpecError) -> FormProblem:
    """What was refused, as a heading and the mistakes one by one."""
    lines = [line for line in error.what.splitlines() if line.strip()]
    many = [line for line in lines if line.startswith(" ")]
    if not many:
        return FormProblem("The question was not taken", tuple(map(_placed, lines)), _advice(error))
    count = "one mistake" if len(many) == 1 else f"{len(many)} mistakes"
    return FormProblem(f"The spec has {count}", tuple(map(_placed, many)), _advice(error))


def _placed(line: str) -> PlacedMistake:
    found = _PLACED.match(line)
    if found is None:
        return PlacedMistake(line.strip(), None)
    key = f"{found['key']}: " if found["key"] else ""
    return PlacedMistake(f"{key}{found['text']}", int(found["line"]))


def _advice(error: SpecError) -> str:
    text = error.advice.split(", then look again with")[0].rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise SpecError(
            "the spec is not UTF-8 text", where=SPEC, advice="save it as UTF-8 and upload it again"
        ) from error
