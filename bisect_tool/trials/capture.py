"""Capped output: the head and the tail of what a process prints, however much that is."""

from __future__ import annotations

HEAD = 256 * 1024
TAIL = 768 * 1024


class Capture:
    """Takes bytes; keeps the first `head` and the last `tail` of them, in bounded memory."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self._head_size = head
        self._tail_size = tail
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, block: bytes) -> None:
        """Take the next bytes."""
        self.total += len(block)
        missing = self._head_size - len(self._head)
        if missing > 0:
            self._head += block[:missing]
            block = block[missing:]
        self._tail += block[-self._tail_size :]
        # Now and then, not each time: a process may print byte by byte.
        if len(self._tail) > 2 * self._tail_size:
            del self._tail[: -self._tail_size]

    def text(self) -> str:
        """What was kept, as text; bytes that are not UTF-8 show as escapes, and a line tells what was left out."""
        tail = bytes(self._tail[-self._tail_size :])
        left_out = self.total - len(self._head) - len(tail)
        if not left_out:
            return _decoded(bytes(self._head) + tail)
        return f"{_decoded(bytes(self._head))}\n… {left_out} bytes left out …\n{_decoded(tail)}"


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", errors="backslashreplace")
