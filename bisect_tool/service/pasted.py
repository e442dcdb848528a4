"""From a text that somebody pastes to what its failure is found by: identities, and words. Pure.

A traceback is read and signed by the code that judges trials, so that the same failure is found whatever its numbers, paths and
addresses are. It may be quoted, indented or in a fence, as in an issue.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from signal import Signals

from bisect_tool.reports.cleaning import clean
from bisect_tool.store.found_rows import identity_of
from bisect_tool.store.words import words_of
from bisect_tool.trials.exception_line import is_surely_exception, split_exception_line
from bisect_tool.trials.failure import Signature, SignatureKind
from bisect_tool.trials.observation import Raised
from bisect_tool.trials.signature import signature_of_chain, signature_of_check, signature_of_exit, signature_of_signal
from bisect_tool.trials.traceback_text import parse, parse_fatal

HEAD, TAIL = 16 * 1024, 48 * 1024  # characters of a long text that are looked at, as of the output of a trial
MOST_WORDS = 20
INNERMOST = 4  # frames whose names are looked for
_ENDS = 1_000  # characters of both ends of a text without a failure, whose words are looked for

_QUOTED = re.compile(r"^ {0,3}> ?", re.MULTILINE)
_FENCE = re.compile(r"^ *(?:```|~~~).*$", re.MULTILINE)
_FATAL = re.compile(r"^Fatal Python error: (.+)$", re.MULTILINE)
_BASH = re.compile(
    r"^.{0,200}?\b(Segmentation fault|Aborted|Floating point exception|Illegal instruction|Bus error)\b", re.MULTILINE
)
# A check and an exit status as reports call them.
_CHECK = re.compile(r"check (\S{1,100})(?: failed)?: (.+)", re.DOTALL)
_EXIT = re.compile(r"exit status (\d{1,3}): (.+)")
_SIGNALS = {
    "Segmentation fault": Signals.SIGSEGV,
    "Aborted": Signals.SIGABRT,
    "Floating point exception": Signals.SIGFPE,
    "Illegal instruction": Signals.SIGILL,
    "Bus error": Signals.SIGBUS,
}


@dataclass(frozen=True, slots=True)
class Pasted:
    """What a text is found by. `title` says which failure was read in it; empty without one.

    `identities` are those that tell the failure from others. `poor` are those of failures that only a place tells from
    others, in a file without a package: every script has a `main`.
    """

    title: str
    identities: tuple[str, ...]
    poor: tuple[str, ...]
    words: tuple[str, ...]


def read_pasted(text: str) -> Pasted:
    """What `text`, of any length, is found by."""
    text = _plain(_shortened(text))
    chain = parse(text) or (() if _is_told(text) else _one_line(text))
    signatures = list(_signatures(text, chain))
    identities = {identity_of(_part(one)): is_telling(one) for one in signatures}
    good, poor = (tuple(key for key, tells in identities.items() if tells is wanted) for wanted in (True, False))
    title = clean(signatures[0].title) if signatures else ""
    return Pasted(title, good, poor, tuple(words_of(_telling(text, chain, signatures), MOST_WORDS)))


def is_telling(signature: Signature) -> bool:
    """Whether two failures of different repros with this signature are one.

    Not when nothing but a place tells it from others, and that is in the repro: every script has a `main`.
    """
    if signature.where is not None:
        return "/" in signature.where
    return signature.kind is not SignatureKind.SIGNAL and bool(signature.message)


def _shortened(text: str) -> str:
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"


def _plain(text: str) -> str:
    """Without fences, marks of quoting and indentation that all lines share."""
    text = text.replace("\r\n", "\n")
    lines = [line for line in text.split("\n") if line.strip()]
    if lines and all(_QUOTED.match(line) for line in lines):
        text = _QUOTED.sub("", text)
    return textwrap.dedent(_FENCE.sub("", text)).strip("\n")


def _signatures(text: str, chain: tuple[Raised, ...]) -> Iterator[Signature]:
    """That of the exception, and that of the signal which ended the process."""
    number = _signal_in(text)
    if number is not None:
        yield signature_of_signal(number, parse_fatal(text), text)
    if chain:
        yield signature_of_chain(chain, text)
    elif said := _CHECK.fullmatch(text.strip()):
        yield signature_of_check(said[1], said[2])
    elif said := _EXIT.fullmatch(text.strip()):
        yield signature_of_exit(int(said[1]), said[2])


def _signal_in(text: str) -> int | None:
    found = _FATAL.search(text) or _BASH.search(text)
    name = found[1].strip() if found else ""
    return next((int(number) for words, number in _SIGNALS.items() if name.startswith(words)), None)


def _one_line(text: str) -> tuple[Raised, ...]:
    """The exception of a text that is only its last line, or has no frames before it."""
    lines = text.split("\n")
    for at in range(len(lines) - 1, -1, -1):
        found = split_exception_line(lines[at].strip())
        if found and is_surely_exception(found[0]) and (found[1] is not None or len(lines) == 1):
            return (Raised(found[0], "\n".join([found[1] or "", *lines[at + 1 :]]).strip()),)
    return ()


def _is_told(text: str) -> bool:
    """Whether it is a failure as a report calls it."""
    return bool(_CHECK.fullmatch(text.strip()) or _EXIT.fullmatch(text.strip()))


def _part(signature: Signature) -> dict[str, object]:
    """The signature as a report has it."""
    return {
        "kind": signature.kind.value,
        "types": [clean(kind) for kind in signature.types],
        "message": clean(signature.message),
        "where": clean(signature.where) if signature.where else None,
    }


def _telling(text: str, chain: tuple[Raised, ...], signatures: list[Signature]) -> Iterator[str]:
    """The texts whose words are looked for, the most telling first."""
    for signature in signatures:
        yield from (*signature.types[-1:], signature.message, signature.where or "")
    if not signatures:
        yield from (text[:_ENDS], text[-_ENDS:])
    for file, function in chain[-1].frames[: -INNERMOST - 1 : -1] if chain else ():
        yield from (function, file.rsplit("/", 1)[-1])
