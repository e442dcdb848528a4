"""The clauses of a line: the parts of a sentence of which each says one thing of the versions in it.

What belongs together is joined: "1.14.0 (bad)", "2.9 and below, it works", "1.12.1 (and older)"; and "works in 2.2 but not in
2.3" becomes two clauses of which each has a verdict of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bisect_tool.spec.drafting import version_words as words


@dataclass(slots=True)
class _Clause:
    """`is_closed`: a verdict in brackets has ended it, so that further versions are another clause."""

    text: str
    is_closed: bool = False


def clauses_of(text: str) -> list[str]:
    """The clauses of a line, in its order."""
    clauses: list[_Clause] = []
    for separator, piece in _pieces(text):
        last = clauses[-1] if clauses else None
        if last and not last.is_closed and _only_versions(piece):
            last.text += f", {piece}"
        elif last and _belongs_to(last.text, separator, piece):
            last.text += f" {piece}"
            last.is_closed = True
        else:
            clauses.append(_Clause(_with_verdict(last.text if last else "", piece)))
    return [clause.text for clause in clauses]


def has_verdict(text: str) -> bool:
    """Whether it says that something works or fails."""
    return words.GOOD.search(text) is not None or words.BAD.search(text) is not None


def _pieces(text: str) -> list[tuple[str, str]]:
    """(what stands before it, piece), empty pieces left out."""
    pieces, at, separator = [], 0, ""
    for match in words.CLAUSES.finditer(text):
        pieces.append((separator, text[at : match.start()]))
        at, separator = match.end(), match[0]
    pieces.append((separator, text[at:]))
    return [(before, piece) for before, piece in pieces if piece.strip()]


def _only_versions(piece: str) -> bool:
    """Whether it only lists versions ("2.6 and 2.7")."""
    if words.VERSIONS.search(piece) is None:
        return False
    return re.search(r"[^\W\d_]{2}", words.LISTED.sub(" ", words.VERSIONS.sub(" ", piece))) is None


def _belongs_to(before: str, separator: str, piece: str) -> bool:
    """Whether a piece without a version says what the versions of the clause before it do."""
    if words.VERSIONS.search(piece) or words.VERSIONS.search(before) is None or has_verdict(before):
        return False
    if words.EARLIER.match(f" {piece.lstrip()}"):
        return True
    if "(" in separator:
        return has_verdict(piece) and words.ANNOTATION.match(piece) is not None
    return separator.strip() == "," and has_verdict(piece) and words.ANAPHOR.match(piece.strip()) is not None


def _with_verdict(before: str, piece: str) -> str:
    """What "not in 2.3" says behind something that works: that it fails there; and the other way round."""
    match = words.OPPOSITE.match(piece.strip())
    if match is None or not has_verdict(before):
        return piece
    works = words.GOOD.search(words.NOT_WORKING.sub(" ", before)) is not None
    return f"{'fails' if works else 'works'} {piece.strip()[match.end() :]}"
