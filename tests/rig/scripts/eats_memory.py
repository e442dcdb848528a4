"""Takes so many bytes of memory (argument), touches every page, and exits with 0."""

from __future__ import annotations

import sys

ballast = [b"\x01" * 10_000_000 for _ in range(0, int(sys.argv[1]), 10_000_000)]
print(sum(map(len, ballast)), "bytes")
