"""Writes a million lines (or as many as its argument says) into the checks file; the last one failed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

total = int(sys.argv[1]) if sys.argv[1:] else 1_000_000
with Path(os.environ["BISECT_CHECKS"]).open("w") as checks:
    lines = (json.dumps({"check": f"check-{number}", "ok": number < total - 1}) for number in range(total))
    checks.writelines(line + "\n" for line in lines)
