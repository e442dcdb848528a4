"""Code in what somebody typed into a shell: a file that was shown (`cat repro.py`), or written there, and `python -c "…"`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bisect_tool.spec.drafting.report import LONGEST_LINE

PROMPT = r"(?:\(\w[\w.-]*\)\s*)?(?:[^\s$%#>❯➜]{0,60}(?:\s[^\s$%#>❯➜]{1,60})?\s?)[$%#>❯➜]\s+"
_PROMPTED = re.compile(rf"^\s*(?P<prompt>{PROMPT})(?P<command>\S.*)$")
_SHOWN = re.compile(
    r"^(?:cat|bat|less|more|type)\s+(?P<name>[\w./\\-]+\.py)\s*$|^cat\s*(?P<to>>+)\s*[\w./-]+\.py\s*<<-?\s*['\"]?(?P<until>\w+)"
    r"|^cat\s*<<-?\s*['\"]?(?P<before>\w+)['\"]?\s*>+\s*[\w./-]+\.py\s*$"
)
_GIVEN = re.compile(
    r"^(?:[A-Z][A-Z0-9_]*=\S*\s+)*python[\d.]*\s+(?:-[A-Zbu](?:\s+\w+)?\s+)*-c\s+(?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)')"
)
_COMMANDS = re.compile(
    r"^(?:\$\s|❯|(?:pip3?|uv|conda|mamba|git|cd|wget|curl|apt(?:-get)?|make|cmake|docker|source|export|sudo|\.)\s+[\w./~-])|"
    r"^python[\d.]*\s+(?:-m\s+)?[\w./-]+"
)


def without_prompt(line: str) -> str:
    """A command line without the prompt before it."""
    match = _PROMPTED.match(line[:LONGEST_LINE])
    return match["command"] if match else line


def shown_files(lines: Sequence[str]) -> Iterator[tuple[int, int, list[str]]]:
    """(first line, line after the last one, code) of each file that a session shows; lines count from 0."""
    at = 0
    while at < len(lines):
        match = _PROMPTED.match(lines[at][:LONGEST_LINE])
        bare = _SHOWN.match(lines[at].strip()[:LONGEST_LINE])  # `cat > x` looks like a prompt
        shown = bare or (_SHOWN.match(match["command"].strip()) if match else None)
        at += 1
        if shown is None:
            continue
        until = shown["until"] or shown["before"]
        end = _end(lines, at, until, match["prompt"] if match and not bare else "")
        yield at, end, list(lines[at:end])
        at = end


def _end(lines: Sequence[str], start: int, until: str | None, prompt: str) -> int:
    """Where a shown file ends: at the mark of a here-document, at the next prompt, or with the text."""
    for number in range(start, len(lines)):
        if until is not None and lines[number].strip() == until:
            return number
        if until is None and prompt.strip() and lines[number].startswith(prompt):
            return number
    return len(lines)


def given_code(line: str) -> str | None:
    """The program of `python -c "…"`, without what the shell takes away."""
    match = _GIVEN.match(without_prompt(line.strip()[:LONGEST_LINE]).strip("` "))
    if match is None:
        return None
    code = match["single"] if match["single"] is not None else re.sub(r"\\([\"\\$`])", r"\1", match["double"])
    return "\n".join(code.split("; ")) if "\n" not in code and not re.search(r":\s", code) else code


def is_of_a_shell(lines: Sequence[str]) -> bool:
    """Whether lines that are no Python are commands of a shell."""
    said = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return bool(said) and _COMMANDS.match(said[0]) is not None
