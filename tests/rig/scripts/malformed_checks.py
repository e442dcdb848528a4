"""Writes a good line into the checks file, then lines that are none."""

from __future__ import annotations

import os
from pathlib import Path

Path(os.environ["BISECT_CHECKS"]).write_bytes(
    b'{"check": "good", "ok": true}\n'
    b"grad: failed\n"
    b'{"check": "half", "ok": \n'
    b'["check", "ok"]\n'
    b'{"ok": true}\n'
    b'{"check": 7, "ok": "yes"}\n'
    b'{"check": "nan", "value": NaN}\n'
    b"\xff\xfe\x00\n"
    b'{"check": "no end", "ok": false}'
)
