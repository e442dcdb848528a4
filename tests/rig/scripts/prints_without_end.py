"""Prints, by default 10 GB; arguments: the number of bytes, and ``line`` for one line without an end."""

from __future__ import annotations

import sys

total = int(sys.argv[1]) if sys.argv[1:] else 10_000_000_000
filler = b"x" if sys.argv[2:] == ["line"] else b"\n"
sys.stdout.buffer.write(b"the first line\n")
block = (b"y" * 99 + filler) * 1000
for _ in range(total // len(block)):
    sys.stdout.buffer.write(block)
sys.stdout.buffer.write(b"\nthe last line\n")
sys.stdout.flush()
