"""The address of a results database. Its password is for the driver alone: no report, log or error shows it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from bisect_tool.errors import SettingError

ADVICE = "write sqlite:///PATH or postgresql+psycopg://USER@HOST/DATABASE (docs/store.md)"
SERVER = "postgresql+psycopg"
_OTHER_NAMES = {"postgresql", "postgres"}  # for the same server: they leave the driver to us


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """Where a database is. `is_own`: it is the file of the cache, which only processes that share this cache use."""

    url: URL = field(repr=False)
    is_own: bool = False

    @property
    def path(self) -> Path | None:
        """The file of the database; None for a server."""
        return Path(self.url.database or "") if self.url.get_backend_name() == "sqlite" else None

    def __str__(self) -> str:
        """What people may see: the path of a file, else kind, host and name, without user, password and options."""
        if self.path is not None:
            return str(self.path)
        # A host may also stand among the options: the folder of a Unix socket.
        shown = self.url.host or str(self.url.query.get("host", "localhost"))
        port = f":{self.url.port}" if self.url.port else ""
        return f"postgresql://{shown}{port}/{self.url.database or ''}"

    def without_password(self, text: str) -> str:
        """`text` with stars for every password of this address."""
        secrets = [self.url.password, *(self.url.query.get(name) for name in ("password", "sslpassword"))]
        for secret in secrets:
            text = text.replace(str(secret), "***") if secret else text
        return text


def file_address(path: Path, *, is_own: bool = True) -> StoreAddress:
    """The address of a database in a file."""
    return StoreAddress(URL.create("sqlite", database=str(path)), is_own)


def read_address(text: str, own: Path) -> StoreAddress:
    """The address that `text` gives; `own` is the file of the cache.

    Raises `SettingError`, without showing what may be a password.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise SettingError("the address of the store cannot be read", advice=ADVICE) from None
    if url.drivername in _OTHER_NAMES:
        url = url.set(drivername=SERVER)
    if url.drivername == "sqlite" and url.database:
        path = Path(url.database).expanduser().absolute()
        return file_address(path, is_own=path == own.absolute())
    if url.drivername != SERVER:
        kind = re.sub(r"[^A-Za-z0-9+]", "?", url.drivername)[:40]
        raise SettingError(f"the store is of an unknown kind: {kind}", advice=ADVICE)
    if not url.database:
        raise SettingError("the address of the store names no database", advice=ADVICE)
    return StoreAddress(url)
