"""Text that came from outside, made fit to be shown: no escapes, no control characters, nothing that reorders."""

from __future__ import annotations

import re

# CSI, then OSC/DCS/APC/PM/SOS up to their end or the end of the line, then the two-character escapes.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
# C0 but for tab and newline, DEL, C1, marks and overrides of the writing direction, the byte order mark.
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` without terminal escapes and control characters; every kind of line end becomes a newline."""
    if text.isascii() and text.isprintable():
        return text  # as most are: a report has thousands
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", _CONTROLS.sub("", text))


def one_line(text: str, limit: int = 400) -> str:
    """`text` on one line of at most `limit` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def shorten(text: str, lines: int, columns: int = 400) -> tuple[str, ...]:
    """The lines of `text`, each at most `columns` long; the middle is left out, and said so, when there are too many.

    The end is kept longer than the beginning, because a traceback ends with what went wrong.
    """
    every = [line if len(line) <= columns else line[: columns - 1] + "…" for line in text.strip("\n").split("\n")]
    if len(every) <= lines:
        return tuple(every) if text.strip() else ()
    head = (lines - 1) // 3
    tail = lines - 1 - head
    return (*every[:head], f"[… {len(every) - head - tail} lines left out …]", *every[-tail:])
