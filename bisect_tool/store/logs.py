"""Logs of trials in a place that several hosts share: a folder, or any address that fsspec knows.

A log is copied once its trial has ended. When the place is gone or may not be written, the log stays in the cache of its host,
and the run goes on.
"""

from __future__ import annotations

import shutil
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bisect_tool.errors import SettingError
from bisect_tool.settings import without_secrets

LOG = "log.txt"
PATIENCE = 30.0  # seconds for one log
REST = 60.0  # seconds before a place that failed is tried again


@dataclass(slots=True)
class SharedLogs:
    """Copies logs to `address`; `tell` hears when that does not work, `clock` gives seconds."""

    address: str = field(repr=False)
    tell: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _copy: Callable[[Path], None] = field(init=False)
    _failed: float | None = None
    _last: threading.Thread | None = None

    def __post_init__(self) -> None:
        self._copy = _copier(self.address)

    def keep(self, folder: Path) -> str | None:
        """Copy the files of a trial; gives the address of its log, or None when it is in the cache only."""
        if self._failed is not None and self.clock() - self._failed < REST:
            return None
        why = self._attempt(folder)
        if why is None:
            self._failed = None
            return f"{without_secrets(self.address).rstrip('/')}/{folder.name}/{LOG}"
        if self._failed is None:
            self.tell(
                f"logs cannot be copied to {without_secrets(self.address)}: {why}; those of this run are in the cache until "
                "that works again"
            )
        self._failed = self.clock()
        return None

    def _attempt(self, folder: Path) -> str | None:
        """Copy; gives what went wrong. A shared folder that hangs is left to itself."""
        if self._last is not None and self._last.is_alive():
            return "it hangs"
        errors: list[Exception] = []

        def copy() -> None:
            try:
                self._copy(folder)
            except Exception as error:  # noqa: BLE001  every file system has errors of its own; all of them are told
                errors.append(error)

        self._last = threading.Thread(target=copy, name="copying a log", daemon=True)
        self._last.start()
        self._last.join(PATIENCE)
        if self._last.is_alive():
            return f"no answer within {PATIENCE:.0f} s"
        return _told(errors[0], self.address) if errors else None


def _copier(address: str) -> Callable[[Path], None]:
    """How a folder gets there. Raises `SettingError`."""
    if "://" not in address:
        return lambda folder: _copy_into_folder(folder, Path(address))
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError as error:
        raise SettingError(
            "logs at an address need the package fsspec",
            where=without_secrets(address),
            advice="install it with `pip install 'bisect-tool[logs]'`, or name a folder with --logs",
        ) from error
    try:
        system, root = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise SettingError(
            f"logs cannot be kept there: {_told(error, address)}",
            where=without_secrets(address),
            advice="install the package that it names, or name a folder with --logs",
        ) from error
    return lambda folder: _copy_to_system(folder, system, root)


def _copy_into_folder(folder: Path, root: Path) -> None:
    """Whole or not at all: somebody may look at the same moment."""
    part = root / f".{folder.name}-{uuid.uuid4().hex[:8]}"
    part.mkdir(parents=True)
    try:
        for file in _files(folder):
            shutil.copyfile(file, part / file.name)
        part.rename(root / folder.name)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _copy_to_system(folder: Path, system: Any, root: str) -> None:
    system.makedirs(f"{root}/{folder.name}", exist_ok=True)
    # The log comes last: whoever sees it sees the rest.
    for file in sorted(_files(folder), key=lambda one: one.name == LOG):
        system.put_file(str(file), f"{root}/{folder.name}/{file.name}")


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink()]


def _told(error: Exception, address: str) -> str:
    """The error in one line, without what the address holds besides its place."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror
    return text.replace(address, without_secrets(address))[:300]
