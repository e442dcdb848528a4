"""Forks children as fast as it can, up to the number given (default 50), none of which ends."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

for _ in range(int(sys.argv[2]) if sys.argv[2:] else 50):
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    if sys.argv[1:]:
        with Path(sys.argv[1]).open("a") as noted:
            noted.write(f"{child}\n")
time.sleep(600)
