"""Has a child that moves to a process group of its own and never ends, and waits for it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    time.sleep(600)
    os._exit(0)
if sys.argv[1:]:
    with Path(sys.argv[1]).open("a") as noted:
        noted.write(f"{os.getpid()}\n{child}\n")
os.waitpid(child, 0)
