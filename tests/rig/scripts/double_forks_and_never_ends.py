"""Leaves its session by two forks and setsid, ignores SIGTERM there, and neither of the two ends."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if sys.argv[1:]:
    with Path(sys.argv[1]).open("a") as noted:
        noted.write(f"{os.getpid()}\n")
print("started", flush=True)
time.sleep(600)
