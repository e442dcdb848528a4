"""What a YAML parser complains about, in plain words."""

from __future__ import annotations

import yaml

from bisect_tool.spec.mistake import Mistake, quoted

# The parser's words (of its C and its Python form) → what was found, what was expected.
_PLAIN_WORDS = (
    ("mapping values are not allowed", "a colon that begins a second value", "quotes around text that holds `: `"),
    ("expected ',' or ']'", "a list that is not closed", "`,` or `]`"),
    ("expected ',' or '}'", "a mapping that is not closed", "`,` or `}`"),
    ("unexpected end of stream", "the end of the file inside quotes", "the closing quote"),
    ("could not find expected ':'", "a line without a colon", "`key: value`"),
    ("expected <block end>", "a line that fits neither the level above nor this one", "the same indentation all along"),
    (
        "did not find expected key",
        "a line that fits neither the level above nor this one",
        "the same indentation all along",
    ),
    ("did not find expected '-'", "a line without `- ` in a list", "`- ` before each entry, all at one indentation"),
    ("block sequence entries are not allowed", "`- ` in the middle of a line", "each entry on a line of its own"),
    ("unknown escape character", "a backslash that means nothing in double quotes", "single quotes, or `\\\\`"),
    ("incompatible YAML document", "another version of YAML", "YAML 1.1 or 1.2"),
)


def syntax_mistake(error: yaml.YAMLError, text: str) -> Mistake:
    """The mistake that kept the parser from going on, with the line that it stopped at."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return Mistake(f"text that is not YAML ({quoted(str(error))})", "YAML")
    line, column = error.problem_mark.line, error.problem_mark.column
    lines = text.splitlines()
    line = min(line, max(len(lines) - 1, 0))
    around = lines[line].strip() if lines else ""
    found, expected = _explained(error.problem or "", _character(lines, line, column))
    return Mistake(f"{found}, near {quoted(around)}", expected, line=line + 1, column=column + 1)


def _explained(problem: str, character: str) -> tuple[str, str]:
    if "cannot start any token" in problem or "tab character" in problem:
        if character == "\t":
            return "a tab", "spaces; YAML takes no tabs for indentation"
        return f"a value that begins with {quoted(character)}", "quotes around it"
    for words, found, expected in _PLAIN_WORDS:
        if words in problem:
            return found, expected
    return f"text that is not YAML ({problem or 'the parser gives no reason'})", "YAML"


def _character(lines: list[str], line: int, column: int) -> str:
    return lines[line][column : column + 1] if line < len(lines) else ""
