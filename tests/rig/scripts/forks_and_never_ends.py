"""Forks a child, and neither of the two ends."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.fork()
if sys.argv[1:]:
    with Path(sys.argv[1]).open("a") as noted:
        noted.write(f"{os.getpid()}\n")
time.sleep(600)
