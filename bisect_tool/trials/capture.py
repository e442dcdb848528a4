"""Capped output: the head and the tail of what a process prints, however much that is."""

from __future__ import annotations

from collections import deque

HEAD = 256 * 1024
TAIL = 768 * 1024


class Capture:
    """Takes bytes; keeps the first `head` and the last `tail` of them, in bounded memory."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self._head_size = head
        self._tail_size = tail
        self._head = bytearray()
        self._blocks: deque[bytes] = deque()
        self._held = 0
        self.total = 0

    def feed(self, block: bytes) -> None:
        """Take the next bytes."""
        self.total += len(block)
        missing = self._head_size - len(self._head)
        if missing > 0:
            self._head += block[:missing]
            block = block[missing:]
        if block:
            self._blocks.append(block)
            self._held += len(block)
            while self._held - len(self._blocks[0]) >= self._tail_size:
                self._held -= len(self._blocks.popleft())

    def text(self) -> str:
        """What was kept, as text; bytes that are not UTF-8 show as escapes, and a line tells what was left out."""
        tail = b"".join(self._blocks)[-self._tail_size :] if self._blocks else b""
        left_out = self.total - len(self._head) - len(tail)
        middle = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return (bytes(self._head) + middle + tail).decode("utf-8", errors="backslashreplace")
