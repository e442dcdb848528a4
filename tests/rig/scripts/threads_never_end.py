"""The main thread ends, others do not."""

from __future__ import annotations

import threading
import time

for _ in range(8):
    threading.Thread(target=time.sleep, args=(600,)).start()
print("main is done", flush=True)
