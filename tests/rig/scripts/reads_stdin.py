"""Reads standard input; it must be empty, and end."""

from __future__ import annotations

import sys

text = sys.stdin.read()
print("read", len(text), "characters")
sys.exit(0 if not text else 1)
