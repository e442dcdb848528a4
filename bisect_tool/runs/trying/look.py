"""What is to be looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """What to look at: the `build` (None: the newest of the range), the `cases` by name (none: all), how often each.

    `lines` of output are shown; `given` are the words of the command line that the next command needs too.
    """

    build: str | None = None
    cases: tuple[str, ...] = ()
    repeat: int = 1
    lines: int = 6
    given: tuple[str, ...] = ()
