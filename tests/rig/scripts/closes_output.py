"""Closes both output streams, waits a little, and exits with 3."""

from __future__ import annotations

import os
import time

print("last words", flush=True)
os.close(1)
os.close(2)
time.sleep(0.3)
os._exit(3)
