"""Errors of databases in words of this tool, and which of them pass by themselves."""

from __future__ import annotations

import shutil

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from bisect_tool.errors import BisectError, CacheBroken, CacheNotWritable, DiskFull, StoreUnreachable
from bisect_tool.store.address import StoreAddress

NO_ROOM = 1_000_000  # bytes; with less than this a failed write is blamed on the disk
BUSY = 60.0  # seconds that one process waits for another one's write into a file

# https://www.postgresql.org/docs/current/errcodes-appendix.html
_GONE = (
    "08",
    "57P",
    "53300",
    "58000",
    "40001",
    "40P01",
)  # no connection, shut down, too many, other trouble, try again
_FULL, _MAY_NOT, _READ_ONLY = "53100", "42501", "25006"
# A server refuses a connection without a code: only its text tells. None of these goes away by waiting.
_REFUSED = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "pg_hba.conf",
    "Name or service not known",
    "failed to resolve host",
    "invalid connection option",
    "invalid port",
    "certificate verify failed",
)


def is_passing(error: DBAPIError, address: StoreAddress) -> bool:
    """Whether a server is only gone for a while, so that asking again makes sense."""
    if address.path is not None or not isinstance(error, OperationalError | InterfaceError):
        return False
    code = getattr(error.orig, "sqlstate", None)
    if code:
        return str(code).startswith(_GONE)
    return not any(sign in str(error.orig) for sign in _REFUSED)


def explain(error: DBAPIError, address: StoreAddress) -> BisectError:
    """A database error in words of this tool, without passwords."""
    text = address.without_password(" ".join(str(error.orig).split()))
    return _of_server(error, text, address) if address.path is None else _of_file(error, text, address)


def _of_server(error: DBAPIError, text: str, address: StoreAddress) -> BisectError:
    code = str(getattr(error.orig, "sqlstate", None) or "")
    if code == _FULL:
        return DiskFull(
            "no space is left at the results database", where=str(address), advice="make room there, then run again"
        )
    if code in {_MAY_NOT, _READ_ONLY}:
        return CacheNotWritable(
            f"the results database cannot be written: {text}",
            where=str(address),
            advice="give the user the right to create and write tables there, or name another address with --store",
        )
    if is_passing(error, address) or isinstance(error, OperationalError):
        return StoreUnreachable(
            f"the results database does not answer: {text}",
            where=str(address),
            advice="see whether the server runs and may be reached from here (`bisect doctor`), then run the same command "
            "again: it goes on from where it stopped; without --store and BISECT_STORE the file of the cache is used",
        )
    return CacheBroken(
        f"the results database refuses what it was asked: {text}",
        where=str(address),
        advice="look at the log of the server; if it says nothing that helps, this is a defect of bisect: report it",
    )


def _of_file(error: DBAPIError, text: str, address: StoreAddress) -> BisectError:
    path = address.path
    assert path is not None
    # SQLite reports a write-ahead log that cannot grow as a mere "disk I/O error".
    if "full" in text or ("I/O error" in text and shutil.disk_usage(path.parent).free < NO_ROOM):
        return DiskFull(
            "no space is left for the results database",
            where=str(path),
            advice="make room with `bisect cache prune`, then run the same command again",
        )
    name = "--cache" if address.is_own else "--store"
    if "readonly" in text or "unable to open" in text:
        return CacheNotWritable(
            f"the results database cannot be written: {text}",
            where=str(path),
            advice=f"name another {'folder' if address.is_own else 'address'} with {name}",
        )
    if isinstance(error, OperationalError) and "locked" in text:
        return CacheNotWritable(
            f"another process has held the results database for more than {BUSY:.0f} s",
            where=str(path),
            advice=f"wait for it, or name another {'folder' if address.is_own else 'address'} with {name}",
        )
    return CacheBroken(
        f"the results database cannot be read: {text}",
        where=str(path),
        advice="move the file away; its results are lost, but environments and logs stay",
    )
