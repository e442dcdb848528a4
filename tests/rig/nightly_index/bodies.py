"""What is sent: bytes that are there, or bytes that come into being while they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol


class Body(Protocol):
    """The content of an answer. Any part of it can be read, and its size and ETag are known before."""

    @property
    def size(self) -> int:
        """How many bytes it has."""

    @property
    def etag(self) -> str:
        """What changes with the content, in quotation marks."""

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        """The bytes from `start` up to but without `stop`, in pieces."""


@dataclass(frozen=True)
class BytesBody:
    """Bytes in memory."""

    content: bytes

    @property
    def size(self) -> int:
        return len(self.content)

    @cached_property
    def etag(self) -> str:
        """As for a file that was uploaded in one piece: its MD5."""
        return f'"{hashlib.md5(self.content, usedforsecurity=False).hexdigest()}"'

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        yield self.content[start:stop]
