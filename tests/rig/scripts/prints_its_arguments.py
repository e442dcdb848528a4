"""Prints its own name and its arguments byte by byte, whatever they are."""

from __future__ import annotations

import os
import sys

for argument in sys.argv:
    sys.stdout.buffer.write(os.fsencode(argument) + b"\n")
