"""What `tests.rig.index` can be told to do wrong, for one file, one page or everything."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class FaultKind(Enum):
    """What goes wrong with a request."""

    STATUS = auto()
    SLOW = auto()
    DRIP = auto()
    TRUNCATED = auto()
    RESET = auto()
    HANG = auto()
    WRONG_LENGTH = auto()
    REPLACED = auto()
    STALE = auto()
    NO_UPLOAD_TIMES = auto()
    NO_HASHES = auto()
    WRONG_HASH = auto()
    NOT_AN_INDEX = auto()
    HTML_ONLY = auto()
    NO_RANGES = auto()
    NO_METADATA = auto()
    NO_HEAD = auto()


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; it goes away after `times` requests (None: it stays).

    `after` requests pass unharmed before the fault begins.
    """

    kind: FaultKind
    times: int | None = None
    after: int = 0
    status: int = 0
    seconds: float = 0.0
    content: bytes = b""
    retry_after: int | None = None


def status(code: int, *, times: int | None = None, after: int = 0, retry_after: int | None = None) -> Fault:
    """Answer with this HTTP status and a short text; `retry_after` (seconds) goes into the header of that name."""
    return Fault(FaultKind.STATUS, times, after, status=code, retry_after=retry_after)


def slow(seconds: float, *, times: int | None = None) -> Fault:
    """Wait before the answer."""
    return Fault(FaultKind.SLOW, times, seconds=seconds)


def drip(seconds: float, *, times: int | None = None) -> Fault:
    """Send the body in ten pieces, with a pause of `seconds` before each."""
    return Fault(FaultKind.DRIP, times, seconds=seconds)


def truncated(*, times: int | None = None) -> Fault:
    """Announce the whole body, send half of it and close the connection."""
    return Fault(FaultKind.TRUNCATED, times)


def reset(*, times: int | None = None) -> Fault:
    """Reset the TCP connection without an answer."""
    return Fault(FaultKind.RESET, times)


def hang(seconds: float = 3600.0, *, times: int | None = None) -> Fault:
    """Accept the request and never answer (until the index closes)."""
    return Fault(FaultKind.HANG, times, seconds=seconds)


def wrong_length(*, times: int | None = None) -> Fault:
    """Announce ten bytes fewer than the body has, so that it ends too early and yet properly."""
    return Fault(FaultKind.WRONG_LENGTH, times)


def replaced(content: bytes, *, times: int | None = None) -> Fault:
    """Serve other content under the same name, while the page still has the old hash."""
    return Fault(FaultKind.REPLACED, times, content=content)


def stale() -> Fault:
    """Serve the page as it was when the fault was set."""
    return Fault(FaultKind.STALE)


def without_upload_times() -> Fault:
    """Leave the upload times out of the page."""
    return Fault(FaultKind.NO_UPLOAD_TIMES)


def without_hashes() -> Fault:
    """Leave the hashes out of the page."""
    return Fault(FaultKind.NO_HASHES)


def wrong_hash(*, times: int | None = None) -> Fault:
    """Give wrong hashes on the page, or for the one file that the fault is set for."""
    return Fault(FaultKind.WRONG_HASH, times)


def not_an_index() -> Fault:
    """Answer 200 with a login page."""
    return Fault(FaultKind.NOT_AN_INDEX)


def html_only() -> Fault:
    """Ignore what the client accepts and serve HTML."""
    return Fault(FaultKind.HTML_ONLY)


def without_ranges() -> Fault:
    """Ignore range requests."""
    return Fault(FaultKind.NO_RANGES)


def without_head(*, times: int | None = None) -> Fault:
    """Answer 405 to every HEAD request."""
    return Fault(FaultKind.NO_HEAD, times)


def without_metadata() -> Fault:
    """Offer no separate metadata files."""
    return Fault(FaultKind.NO_METADATA)
