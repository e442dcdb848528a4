"""Writes every byte, broken UTF-8, escape sequences and NUL to both streams, and exits with 1."""

from __future__ import annotations

import sys

for stream in (sys.stdout, sys.stderr):
    stream.buffer.write(bytes(range(256)) + b"\xc3\x28 \x1b[31mred\x1b[2J\x00 \xf0\x9f\x92\n")
    stream.flush()
sys.exit(1)
