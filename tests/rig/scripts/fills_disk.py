"""Writes so many bytes (argument) into its temporary folder; a full disk is an OSError."""

from __future__ import annotations

import sys
import tempfile

BLOCK = b"x" * 1_000_000
with tempfile.NamedTemporaryFile(prefix="ballast-", delete=False) as ballast:
    for _ in range(0, int(sys.argv[1]), len(BLOCK)):
        ballast.write(BLOCK)
    ballast.flush()
    print("wrote", ballast.name)
