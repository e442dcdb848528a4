"""Reading logs where all hosts keep them: the other side of `SharedLogs`, for addresses that fsspec knows.

Only the place that this host was set up with is read, never an address that somebody wrote into the database.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from bisect_tool.settings import without_secrets
from bisect_tool.store.logs import LOG

PATIENCE = 10.0  # seconds for one log: somebody waits for the page
MOST_AT_ONCE = 8  # logs that are being read; of a place that hangs no more threads wait than that
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}\Z")  # of the folder of a trial

Read = Callable[[str, int], bytes]


class LogUnread(Exception):
    """A log that is kept elsewhere and could not be read: `where` it is, and `why` not; `is_gone`: it is not there any more."""

    def __init__(self, where: str, why: str, *, is_gone: bool = False) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why
        self.is_gone = is_gone


@dataclass(frozen=True, slots=True)
class KeptLogs:
    """The logs at `address`; `open_` gives what reads the start of a file there, of so many bytes at most."""

    address: str = field(repr=False)
    open_: Callable[[str], Read] | None = None
    patience: float = PATIENCE
    _free: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(MOST_AT_ONCE), repr=False)

    def place(self, folder: str) -> str:
        """Where the log of a trial is, without what is secret of the address."""
        return f"{without_secrets(self.address).rstrip('/')}/{_last(folder)}/{LOG}"

    def has(self, folder: str, kept: str | None) -> bool:
        """Whether the log of a trial was `kept` here."""
        return kept is not None and _NAME.match(_last(folder)) is not None and kept == self.place(folder)

    def read(self, folder: str, most: int) -> bytes:
        """The first `most` bytes of the log of a trial. Raises `LogUnread`."""
        where, name = self.place(folder), _last(folder)
        if not _NAME.match(name):
            raise LogUnread(where, "that is no name of a trial")
        if not self._free.acquire(blocking=False):
            raise LogUnread(where, "others wait for that place already, and it does not answer")
        found: list[bytes] = []
        errors: list[Exception] = []

        def look() -> None:
            try:
                read = (self.open_ or _opened)(self.address)
                found.append(read(f"{name}/{LOG}", most))
            except Exception as error:  # noqa: BLE001  every file system has errors of its own; all of them are told
                errors.append(error)
            finally:
                self._free.release()

        thread = threading.Thread(target=look, name="reading a log", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            self._free.release()
            raise LogUnread(where, "this server can start no further thread") from error
        thread.join(self.patience)
        if found:
            return found[0]
        if errors:
            raise _unread(where, errors[0]) from errors[0]
        raise LogUnread(where, f"no answer within {self.patience:.0f} s")


@cache
def kept_logs(address: str) -> KeptLogs:
    """The logs at an address; one object for all requests, so that those that hang are counted."""
    return KeptLogs(address)


def _last(folder: str) -> str:
    return folder.rstrip("/").rpartition("/")[2]


def _unread(where: str, error: Exception) -> LogUnread:
    """What a visitor may know of an error: its kind, because its text may hold what is secret of the address."""
    match error:
        case FileNotFoundError():
            return LogUnread(where, "it is not there any more", is_gone=True)
        case PermissionError():
            return LogUnread(where, "the server may not read it")
        case ImportError():
            return LogUnread(where, "the server lacks a package for such addresses (`bisect-tool[logs]`)")
        case _:
            return LogUnread(where, f"reading it failed ({type(error).__name__})")


def _opened(address: str) -> Read:
    from fsspec.core import url_to_fs

    system, root = url_to_fs(address)

    def read(path: str, most: int) -> bytes:
        with system.open(f"{root.rstrip('/')}/{path}", "rb") as file:
            content: bytes = file.read(most)
            return content

    return read
