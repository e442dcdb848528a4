"""Leaves a file in its temporary folder and one in its working directory, and says where."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

handle, name = tempfile.mkstemp(prefix="left-behind-")
os.write(handle, b"left behind")
local = Path("left-behind.bin").resolve()
local.write_bytes(b"left behind")
print(f"{name}\n{local}")
