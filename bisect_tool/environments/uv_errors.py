"""What uv's messages mean: is the build to blame, the network, the disk, or what the spec requires?

uv tells kinds of failure apart only in its text, so that this table is all there is. The texts were collected by provoking a
real uv (`tests/rig/uv_messages/`). A message that is not in the table is a fault of the machine, never of the build: a wrong
"untestable" would hide a build for good.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from enum import Enum


class Blame(Enum):
    """Who is to blame when uv fails."""

    DISK = "the disk is full"
    NETWORK = "the network or the index"
    PERMISSION = "the cache cannot be written"
    DAMAGED = "the wheel is damaged, or was on its way here"
    MALFORMED = "the wheel contradicts itself"
    UNSATISFIABLE = "the requirements have no solution"
    UNFIT = "the wheel is for another platform or Python"
    PYTHON = "the interpreter"
    REQUIREMENT = "a requirement is not written as one"
    MACHINE = "memory or another limit of this machine"
    UV = "uv itself is too old"
    UNKNOWN = "unknown"


_TABLE: tuple[tuple[Blame, str], ...] = (
    (
        Blame.DISK,
        r"No space left on device|os error 28\b|Disk quota exceeded|os error 122|File too large|os error 27\b",
    ),
    (
        Blame.MACHINE,
        r"memory allocation of \d+ bytes failed|Cannot allocate memory|os error 12\b|Too many open files|os error 24\b|"
        r"Tokio executor failed|Resource temporarily unavailable|os error 11\b",
    ),
    (Blame.UV, r"unexpected argument '--|Required uv version"),
    # The index refused to answer: uv then goes on as if it did not have the package.
    (Blame.NETWORK, r"lack of valid authentication|returned a 40[13] |because the network was disabled"),
    (Blame.MALFORMED, r"has invalid metadata|indicates a malformed wheel|Metadata field \w+ not found"),
    (Blame.UNSATISFIABLE, r"No solution found"),
    (Blame.REQUIREMENT, r"error: Failed to parse: `"),
    (
        Blame.PYTHON,
        r"No interpreter found|No virtual environment or system Python|Failed to inspect Python interpreter|"
        # Only the archive: environments have such words in their names.
        r"python-build-standalone|/cpython-[^/\s]+\.tar",
    ),
    (
        Blame.NETWORK,
        r"error sending request|Connection refused|Connection reset|connection closed|operation timed out|dns error|"
        r"[Nn]etwork is unreachable|Failed to fetch|end of file before message length|IncompleteBody|incomplete message|"
        r"unexpected end of file|body error|HTTP status (server|client) error|tls handshake|error decoding response body|"
        r"Received some unexpected (JSON|HTML)",
    ),
    (
        Blame.PERMISSION,
        r"Permission denied|os error 13\b|Read-only file system|os error 30\b|Failed to initialize cache|"
        r"A (directory|file) already exists at",
    ),
    (
        Blame.DAMAGED,
        r"Hash mismatch|Failed to (extract|unzip)|end of central directory|[Ii]nvalid zip|[Bb]ad CRC|CRC mismatch|"
        r"Distribution not found at",
    ),
    (Blame.UNFIT, r"is incompatible with the current platform|not compatible with the current|requires Python"),
)
_BY_SIGNAL = {int(signal.SIGXFSZ): Blame.DISK}


@dataclass(frozen=True, slots=True)
class UvFailure:
    """A failed call of uv: who is to blame, the line that says so, and all that it printed."""

    blame: Blame
    reason: str
    text: str


def explain(text: str, status: int = 1) -> UvFailure:
    """Who is to blame for a failure of uv that printed `text` (standard error) and ended with `status`.

    A negative status is the signal that ended it.
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    # Warnings that stand before the error are about something else.
    start = max(plain.find("error:"), 0)
    for blame, pattern in _TABLE:
        found = re.search(pattern, plain[start:])
        if found and blame is Blame.UNSATISFIABLE:
            return UvFailure(blame, _resolution(plain), plain)
        if found:
            return UvFailure(blame, _line_around(plain, start + found.start()), plain)
    if status < 0:
        return UvFailure(
            _BY_SIGNAL.get(-status, Blame.MACHINE), f"uv was ended by the signal {_signal_name(-status)}", plain
        )
    return UvFailure(Blame.UNKNOWN, _last_line(plain) or f"uv ended with status {status}", plain)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _resolution(text: str) -> str:
    """uv's explanation as one line, without its tree marks and hints."""
    because = text.find("Because")
    explanation = text[because if because >= 0 else text.find("No solution found") :].split("hint:", maxsplit=1)[0]
    return re.sub(r"[\s╰─▶│×]+", " ", explanation).strip()


def _line_around(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return re.sub(r"^[\s╰─▶│├×]*(cause: |error: )?", "", text[start : end if end >= 0 else None]).strip()


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
