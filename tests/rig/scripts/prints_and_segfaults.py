"""Prints to both streams and then reads the address 0."""

from __future__ import annotations

import ctypes
import resource
import sys

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print("to standard output", flush=True)
print("to standard error", file=sys.stderr, flush=True)
ctypes.string_at(0)
