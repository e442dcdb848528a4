"""Becomes a daemon, as old servers do, and exits with 0."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

if os.fork() != 0:
    time.sleep(0.2)
    print("the daemon is up")
    sys.exit(0)
os.setsid()
if os.fork() != 0:
    os._exit(0)
if sys.argv[1:]:
    with Path(sys.argv[1]).open("a") as noted:
        noted.write(f"{os.getpid()}\n")
os.chdir("/")
nowhere = os.open(os.devnull, os.O_RDWR)
for stream in range(3):
    os.dup2(nowhere, stream)
time.sleep(600)
