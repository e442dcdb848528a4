"""The command in a comment: a line that begins with `/bisect`, and its options. Pure.

Lines of quotes, of code (fenced or indented) and of HTML comments do not count: somebody who quotes the command, or
explains it, does not give it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches

WORD = "/bisect"
CHANNELS = ("release", "nightly")  # a wheelhouse is a folder of the server, and nobody else's business
DEVICES = ("cpu", "cuda")
KEYS = ("from", "to", "channel", "device", "python")
_LINE = re.compile(r" {0,3}/bisect(?:[ \t]+(?P<rest>.*))?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_OPTION = re.compile(r"(?:--)?(?P<key>[A-Za-z_-]+)(?:[=:](?P<value>.*))?")
_BOUND = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,59}")
_PYTHON = re.compile(r"3\.[0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class Command:
    """What was asked for. `options` are those that were given, by their key; `wants_help`: only how to ask."""

    options: dict[str, str] = field(default_factory=dict)
    wants_help: bool = False


class CommandMistakes(Exception):
    """The command cannot be understood; `mistakes` are all of them, in sentences without a full stop."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("; ".join(mistakes))
        self.mistakes = tuple(mistakes)


def command_lines(text: str) -> list[str]:
    """What stands behind `/bisect` on each line of a comment that gives the command."""
    return [match["rest"] or "" for line in _spoken(text) if (match := _LINE.fullmatch(line))]


def read_command(lines: list[str]) -> Command:
    """The command of a comment, of what `command_lines` gave.

    Raises `CommandMistakes` with every mistake.
    """
    if len(set(lines)) > 1:
        raise CommandMistakes([f"{len(lines)} lines begin with `{WORD}`, and one comment asks one question"])
    words = lines[0].split()
    if words in (["help"], ["--help"]):
        return Command(wants_help=True)
    options: dict[str, str] = {}
    mistakes: list[str] = []
    for key, value in _pairs(words, mistakes):
        if key in options:
            mistakes.append(f"`{key}` is given twice")
        options[key] = value
        mistakes += _mistakes_of(key, value)
    if mistakes:
        raise CommandMistakes(mistakes)
    return Command(options)


def _spoken(text: str) -> Iterator[str]:
    """The lines that somebody says: no quote, no code, no comment of HTML."""
    fence, is_hidden, before = "", False, ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        marks = _FENCE.fullmatch(line)
        if is_hidden:
            is_hidden = "-->" not in line
        elif fence:
            closes = marks and marks[1].startswith(fence) and not marks[2].strip()
            fence = "" if closes else fence
        elif marks and not (marks[1][0] == "`" and "`" in marks[2]):
            fence = marks[1]
        elif "<!--" in line:
            is_hidden = "-->" not in line.partition("<!--")[2]
        elif not before.lstrip().startswith(">"):  # a line right below a quote still belongs to it
            yield line
        before = line


def _pairs(words: list[str], mistakes: list[str]) -> Iterator[tuple[str, str]]:
    """The options of the words: `--from 2.12`, `--from=2.12`, `from=2.12`."""
    left = list(words)
    while left:
        word = left.pop(0)
        match = _OPTION.fullmatch(word)
        key = match["key"].lower().replace("_", "-") if match else ""
        if match is None or (match["value"] is None and not word.startswith("--")):
            mistakes.append(f"{_shown(word)} is no option")
            continue
        value = match["value"]
        if not value and left and not left[0].startswith("--"):
            value = left.pop(0)
        if key not in KEYS:
            near = get_close_matches(key, KEYS, 1)
            mistakes.append(f"{_shown(key)} is no option" + (f"; did you mean `{near[0]}`?" if near else ""))
        elif not value:
            mistakes.append(f"`{key}` has no value")
        else:
            yield key, value


def _mistakes_of(key: str, value: str) -> list[str]:
    match key:
        case "channel" if value not in CHANNELS:
            return [f"`channel` is one of {', '.join(f'`{one}`' for one in CHANNELS)}, not {_shown(value)}"]
        case "device" if any(one not in DEVICES for one in value.split(",")):
            return [f"`device` is `cpu`, `cuda`, or the ones to try in order: `cuda,cpu`; not {_shown(value)}"]
        case "python" if not _PYTHON.fullmatch(value):
            return [f"`python` is a version such as `3.11`, not {_shown(value)}"]
        case "from" | "to" if not _BOUND.fullmatch(value):
            return [f"`{key}` is a version or a date, such as `2.12` or `2026-03-01`; not {_shown(value)}"]
        case _:
            return []


def _shown(word: str) -> str:
    plain = re.sub(r"[^ -~]|`", "", word)[:40]
    return f"`{plain}`" if plain.strip() else "something that cannot be shown"
