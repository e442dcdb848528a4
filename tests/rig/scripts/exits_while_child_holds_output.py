"""Exits with 0 while a child sleeps that has standard output open."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

child = os.fork()
if child == 0:
    time.sleep(600)
    os._exit(0)
if sys.argv[1:]:
    with Path(sys.argv[1]).open("a") as noted:
        noted.write(f"{child}\n")
print("done", flush=True)
