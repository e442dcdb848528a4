"""Ignores every signal that asks it to end, and does not end."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
if sys.argv[1:]:
    Path(sys.argv[1]).write_text(f"{os.getpid()}\n")
print("you cannot stop me", flush=True)
time.sleep(600)
