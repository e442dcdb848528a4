"""Overwrites its own source (only where the rig has put its marker), and exits with 0."""

from __future__ import annotations

from pathlib import Path

own = Path(__file__).resolve()
if not own.with_name("may-be-deleted").exists():
    raise SystemExit("this is no copy made by the rig")
own.write_text("raise RuntimeError('another script')\n")
