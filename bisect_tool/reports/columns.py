"""Text on lines of a given width."""

from __future__ import annotations

import textwrap

from bisect_tool.reports.cleaning import clean


def wrapped(head: str, text: str, width: int) -> list[str]:
    """Text from anywhere on lines of at most `width` columns where words allow it, the first behind `head`."""
    words = " ".join(clean(text).split())
    return textwrap.wrap(
        words,
        width,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )
