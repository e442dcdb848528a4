"""What a trial means: it passed, failed in some way, could not judge, or the machine is to blame."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum


class SignatureKind(StrEnum):
    """The ways in which a trial fails."""

    EXCEPTION = "exception"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    CHECK = "check"
    EXIT = "exit"
    METRIC = "metric"


@dataclass(frozen=True, slots=True)
class Signature:
    """What makes two failures the same failure.

    `types` are exception types from the wrapper to the cause, short names; only the last takes part in the identity,
    because wrappers change between releases. `message` has its volatile parts removed. `where` is the module and function
    in which it was raised (`torch/_inductor/fx_passes/post_grad.py:pointless_cumsum_replacement`), given only when the message
    says too little to tell one failure from another. `title` is one line for people and takes no part in the identity.
    """

    kind: SignatureKind
    message: str = ""
    types: tuple[str, ...] = ()
    where: str | None = None
    title: str = ""

    @property
    def identity(self) -> str:
        """Twelve hexadecimal digits."""
        cause = self.types[-1] if self.types else ""
        text = "\0".join((self.kind, cause, self.message, self.where or ""))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class FoundFailure:
    """A failure that a trial showed: its identity for the search, its signature, and the text that shows it.

    `id` is that of the signature, or ``=NAME`` when a named failure of the spec matches. `text` is what the trial printed
    of it, shortened.
    """

    id: str
    signature: Signature
    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """Exit status 0 and no failed check."""


@dataclass(frozen=True, slots=True)
class Failed:
    """At least one failure: an exception, a signal, a timeout, an exit status, failed checks."""

    failures: tuple[FoundFailure, ...]


@dataclass(frozen=True, slots=True)
class CannotJudge:
    """The trial says nothing about the build."""

    reason: str


@dataclass(frozen=True, slots=True)
class MachineAtFault:
    """This machine, not the build, made the trial fail; try again, then stop with `advice`. `command`: exit 126 or 127."""

    reason: str
    advice: str
    command: bool = False


Verdict = Passed | Failed | CannotJudge | MachineAtFault
