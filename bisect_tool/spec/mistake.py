"""One mistake of a spec, and all mistakes of one file, ready to be shown."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bisect_tool.errors import SpecError

Location = tuple[str | int, ...]

_SHOWN = 60
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


@dataclass(frozen=True, slots=True)
class Mistake:
    """What was found at a place of the spec, and what was expected there.

    `at` is the way from the top of the file (`("cases", 1, "role")`), empty for the file as a whole. `line` and `column`
    count from 1 and are None where the file has no such place. `flag` is the option of the command line that the value
    came from, when it did not come from the file. `likely` is the word that was probably meant.
    """

    found: str
    expected: str
    at: Location = ()
    likely: str | None = None
    line: int | None = None
    column: int | None = None
    flag: str | None = None

    @property
    def path(self) -> str:
        """The place as people write it: `cases[1].role`; empty for the whole file."""
        if self.flag:
            return self.flag
        parts = (f"[{part}]" if isinstance(part, int) else f".{_shown_key(part)}" for part in self.at)
        return "".join(parts).removeprefix(".")

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        column = f"column {self.column}" if self.column else ""
        place = ", ".join(part for part in (line, column, self.path) if part)
        meant = f"; did you mean {quoted(self.likely, limit=1000)}?" if self.likely else ""
        return _visible(f"{place}{': ' if place else ''}found {self.found}, expected {self.expected}{meant}")


@dataclass(frozen=True, slots=True)
class SpecProblems:
    """Every mistake of one file, in the order of its lines."""

    path: Path
    mistakes: tuple[Mistake, ...]

    def __str__(self) -> str:
        count = len(self.mistakes)
        head = f"{quoted(str(self.path), limit=1000)[1:-1]}: {count} {'mistake' if count == 1 else 'mistakes'}"
        return "\n".join((head, *(f"  {mistake}" for mistake in self.mistakes)))


COMMAND_LINE = Path("command line")  # stands for the file where there is no spec


def spec_error(problems: Sequence[SpecProblems]) -> SpecError:
    """The error that shows every mistake of every file."""
    where = problems[0].path if len(problems) == 1 else None
    files = [str(problem.path) for problem in problems if problem.path != COMMAND_LINE]
    again = f", then look again with `bisect check {' '.join(files)}`" if files else ""
    return SpecError(
        "\n".join(str(problem) for problem in problems),
        where=str(where) if where else None,
        advice=f"Correct what is listed{again}.",
    )


def in_order(mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """The mistakes by line, each once; those without a line come last."""
    unique = dict.fromkeys(mistakes)
    return tuple(sorted(unique, key=lambda mistake: (mistake.line is None, mistake.line or 0, mistake.column or 0)))


def likely_word(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was probably meant to be."""
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word[:100].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def listed(words: Iterable[str]) -> str:
    """`a`, `b` or `c`."""
    *firsts, last = [f"`{word}`" for word in words]
    return f"{', '.join(firsts)} or {last}" if firsts else last


def quoted(text: str, *, limit: int = _SHOWN) -> str:
    """The text in quotes, shortened, with nothing in it that a terminal would act on."""
    return f'"{_visible(text[:limit])}{"…" if len(text) > limit else ""}"'


def described(value: object) -> str:
    """A value of a spec in a few words."""
    match value:
        case None:
            return "nothing"
        case str():
            return quoted(value)
        case list() | tuple():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return quoted(str(value))


def _visible(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def _shown_key(key: str) -> str:
    return key if _PLAIN_KEY.match(key) else quoted(key)
