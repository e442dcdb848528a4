"""The seam for the Python part of a wheel that lies elsewhere: what it holds is known before anything of it is fetched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class NotReadable(Exception):
    """The wheel cannot be read in parts; the text says why."""


class PythonFiles(Protocol):
    """The files of one wheel that are laid over the binaries of another one."""

    @property
    def version(self) -> str:
        """The version of the wheel that they come from."""

    @property
    def revision(self) -> str | None:
        """The commit that this wheel says it was built from; None where it does not say."""

    @property
    def packed(self) -> int:
        """Bytes that they take inside the wheel."""

    @property
    def checksums(self) -> Mapping[str, int]:
        """The CRC-32 of each file, by its path below site-packages, as the directory of the wheel has it."""

    def read(self, names: Iterable[str]) -> Mapping[str, bytes]:
        """The contents of these files, all of them. Raises `IndexUnreachable`, `NotReadable`."""
