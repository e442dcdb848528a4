"""Deletes its own folder (only where the rig has put its marker) and its working directory, and exits with 0."""

from __future__ import annotations

import shutil
from pathlib import Path

own = Path(__file__).resolve().parent
if not (own / "may-be-deleted").exists():
    raise SystemExit("this is no copy made by the rig")
working = Path.cwd().resolve()
shutil.rmtree(own)
is_small = working.exists() and len(list(working.iterdir())) < 20  # a scratch folder, not somebody's home
if working != own and working not in own.parents and is_small:
    shutil.rmtree(working)
print("deleted", flush=True)
