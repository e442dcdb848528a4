"""Reading the failure out of what pytest printed.

pytest prints no traceback but sections of its own. In its long style, each frame is source text that ends in a place
(`test_scan.py:12: `), the innermost one with the type (`test_scan.py:12: IndexError`) after lines that begin with `E` and hold
the message. In its short style the places come first (`test_scan.py:12: in test_sum`), and the lines with `E` end the section.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field, replace

from bisect_tool.trials.exception_line import LINKS, can_be_exception, split_exception_line
from bisect_tool.trials.observation import Raised

_FAILURES = re.compile(r"^=+ (?:FAILURES|ERRORS) =+$", re.MULTILINE)
_PLACE = re.compile(r"^(\S[^:\n]*+):\d++:(?: in (\S+)| ([\w.]+)| )?$")
_DEFINITION = re.compile(r"^\s*+(?:async )?def (\w+)\(")
_HEADING = re.compile(r"^(?:_{3,} .* _{3,}|={3,} .* ={3,}|-{3,} Captured .* -{3,})$")


@dataclass(slots=True)
class _Section:
    """What was read of the failure at hand, and the exceptions that were complete (with the link to the one before)."""

    done: list[tuple[Raised, str | None]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    frames: list[tuple[str, str]] = field(default_factory=list)
    function: str = ""
    link: str | None = None

    def finish(self, kind: str | None = None) -> None:
        """The lines with `E` are complete; `kind` is the type that the place names."""
        if self.said:
            self.done.append((_raised(self.said, kind, tuple(self.frames)), self.link))
            self.said, self.frames, self.function, self.link = [], [], "", None

    def break_off(self, link: str | None) -> None:
        """Whatever comes belongs to another exception."""
        self.finish()
        self.frames, self.link = [], link


def parse_pytest(text: str) -> tuple[Raised, ...]:
    """The exception of the last failed test in `text` as a chain, outermost first; empty when it is no output of pytest."""
    start = _FAILURES.search(text)
    if start is None:
        return ()
    section = _Section()
    for line in text[start.end() :].split("\n"):
        _read(section, line)
    section.finish()
    return _chain(section.done)


def _read(section: _Section, line: str) -> None:
    if line == "E" or line.startswith("E   "):
        section.said.append(line[1:])
    elif place := _PLACE.match(line):
        if place[2]:
            section.finish()
        section.frames.append((place[1], place[2] or section.function))
        if place[3]:
            section.finish(place[3])
    elif found := _DEFINITION.match(line):
        section.function = found[1]
    elif line in LINKS:
        section.break_off(LINKS[line])
    elif _HEADING.match(line):
        section.break_off(None)


def _raised(said: list[str], kind: str | None, frames: tuple[tuple[str, str], ...]) -> Raised:
    message = textwrap.dedent("\n".join(said)).strip("\n")
    found = split_exception_line(message.split("\n", 1)[0])
    if (
        found
        and can_be_exception(found[0])
        and (kind is None or found[0].rsplit(".", 1)[-1] == kind.rsplit(".", 1)[-1])
    ):
        rest = message.split("\n")[1:]
        return Raised(found[0], "\n".join([found[1] or "", *rest]).strip("\n"), "raised", frames)
    return Raised(kind or "AssertionError", message, "raised", frames)


def _chain(done: list[tuple[Raised, str | None]]) -> tuple[Raised, ...]:
    chain: list[Raised] = []
    relation: str | None = "raised"
    for raised, link in reversed(done):
        if relation is None:
            break
        chain.append(replace(raised, relation=relation))
        relation = link
    return tuple(chain)
