"""What the answers of a server say: that it gives a part, of which content; that it may do better soon; that it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import requests

_LONGEST_WAIT = 30.0
OK, PART, NO_SUCH_PART = 200, 206, 416
_TIMEOUT, _TOO_MANY, _BUSY = 408, 429, 503
_SERVER_ERROR = 500


class FetchFault(Exception):
    """The file cannot be fetched. `status` is that of an answer that is final, such as 404; None for all else.

    `is_full`: there is no room for it on the disk.
    """

    def __init__(self, reason: str, status: int | None = None, *, is_full: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.is_full = is_full


class Again(Exception):
    """The connection or the server failed in a way that may be over soon; `pause` is what the server asks for, in seconds."""

    def __init__(self, reason: str, pause: float | None = None, *, is_too_much: bool = False) -> None:
        super().__init__(reason)
        self.pause = pause
        self.is_too_much = is_too_much


def again_or_not(error: Exception, shown: str) -> Exception:
    """A fault of the connection may be over soon; a certificate that is not trusted stays so."""
    import requests

    from bisect_tool.builds.index_faults import unreachable

    if isinstance(error, requests.exceptions.SSLError | requests.exceptions.InvalidSchema):
        return FetchFault(unreachable(error, shown).what)
    reason = unreachable(error, shown).what if isinstance(error, requests.RequestException) else str(error)
    return Again(f"{shown}: {reason.replace('the index', 'the server')}")


def check_status(answer: requests.Response, shown: str) -> None:
    """Raises `Again` where the server may do better soon, `FetchFault` for any other answer that is no file."""
    status = answer.status_code
    if status in {OK, PART}:
        return
    reason = f"{shown}: status {status}"
    if status in {_TIMEOUT, _TOO_MANY} or status >= _SERVER_ERROR:
        raise Again(reason, _retry_after(answer), is_too_much=status in {_TOO_MANY, _BUSY})
    raise FetchFault(reason, status)


def _retry_after(answer: requests.Response) -> float | None:
    text = answer.headers.get("Retry-After", "")
    return min(float(text), _LONGEST_WAIT) if text.isdecimal() else None


def pause_after(again: Again, failures: int, backoff: float) -> float:
    """Seconds until the next attempt: as the server asks, else doubled with every one of `failures` in a row."""
    return again.pause if again.pause is not None else min(_LONGEST_WAIT, backoff * 2 ** max(0, failures - 1))


def size_in(answer: requests.Response, shown: str) -> int:
    """The bytes of the whole file. Raises `FetchFault` where the server does not say."""
    total = answer.headers.get("Content-Range", "").rpartition("/")[2]
    text = total if answer.status_code == PART else answer.headers.get("Content-Length", "")
    if not text.isdecimal():
        raise FetchFault(f"{shown}: the server does not say how long the file is")
    return int(text)


def begin_of(answer: requests.Response) -> int:
    """The place of the first byte of a part; -1 where none is said."""
    text = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(text) if text.isdecimal() else -1


def validator_in(answer: requests.Response) -> str | None:
    """A strong ETag, else the time of change (RFC 9110, 13.1.5)."""
    etag = answer.headers.get("ETag")
    if etag and not etag.startswith("W/"):
        return etag
    return answer.headers.get("Last-Modified")
