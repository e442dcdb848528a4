"""Text that others wrote (titles, authors, file names), made fit for a terminal and a single line. One function.

Nothing is left out in silence: what would act on the terminal, reorder the line or hide itself is written as an escape, so
that a file name with a newline is seen to have one. Formats (Markdown, HTML) escape again for themselves.
"""

from __future__ import annotations

import unicodedata

# Control, format (bidi marks and overrides, zero width, tags), surrogate, private use, line and paragraph separators.
_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_FIRST_BYTE = 0xDC80  # where Python's file system functions put the bytes that are not UTF-8
_LAST_BYTE = 0xDCFF


def shown(text: str, limit: int = 300) -> str:
    """`text` on one line of at most `limit` characters, with every character visible.

    A backslash of the text itself stays as it is: nobody parses this back.
    """
    safe = "".join(character if character.isprintable() else _escape(character) for character in text[: limit + 1])
    return safe if len(safe) <= limit and len(text) <= limit else safe[: limit - 1] + "…"


def _escape(character: str) -> str:
    if short := _SHORT.get(character):
        return short
    if unicodedata.category(character) not in _ESCAPED:
        return character  # spaces of other widths, and characters that this Python does not know yet
    code = ord(character)
    if _FIRST_BYTE <= code <= _LAST_BYTE:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
