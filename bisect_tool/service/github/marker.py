"""The mark in our comments: by it they are found again, and it tells whether anybody has changed one since.

The last line of a comment is an HTML comment, which GitHub does not show: what the comment is about (the first digits of the
key of the post) and the digest of the text above. A comment counts as ours only if its author is us as well.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

DIGITS = 20
_MARK = re.compile(r"<!-- bisect ([0-9a-f]{20}) ([0-9a-f]{32}) -->\Z")


@dataclass(frozen=True, slots=True)
class Mark:
    """What a comment says of itself. `is_whole`: the text is still what we wrote."""

    about: str
    digest: str
    is_whole: bool


def marked(text: str, key: str) -> str:
    """`text` with the mark of the post `key` (hexadecimal) as its last line."""
    plain = _plain(text)
    return f"{plain}\n\n<!-- bisect {key[:DIGITS]} {_digest(plain)} -->"


def mark_of(body: str) -> Mark | None:
    """The mark of a comment; None for one without, or with something behind it."""
    plain = _plain(body)
    match = _MARK.search(plain)
    if match is None:
        return None
    return Mark(match[1], match[2], _digest(_plain(plain[: match.start()])) == match[2])


def _plain(text: str) -> str:
    """Without what GitHub may change: kinds of line ends, white space at the end."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
