"""Asks the user at the terminal; without one it raises OSError."""

from __future__ import annotations

from pathlib import Path

with Path("/dev/tty").open("r+b", buffering=0) as terminal:
    terminal.write(b"go on? ")
    terminal.readline()
