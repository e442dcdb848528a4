"""Exits with the status that its argument names."""

from __future__ import annotations

import sys

print("exiting with", sys.argv[1])
sys.exit(int(sys.argv[1]))
