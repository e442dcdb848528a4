"""Removing what a trial left in folders that it could write."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def remove_folder(folder: Path) -> None:
    """Remove a folder that a trial could write, also when it has taken the permission to do so away, or made it a link."""
    if folder.is_symlink():
        with suppress(OSError):
            folder.unlink()
        return
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for path, _, _ in os.walk(folder):
            with suppress(OSError):
                Path(path).chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)


def empty_folder(folder: Path) -> None:
    """Remove everything in a folder that a trial could write, but not the folder itself, which may be the root of a mount."""
    with suppress(OSError):
        folder.chmod(0o700)
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            remove_folder(Path(entry.path))
        else:
            with suppress(OSError):
                Path(entry.path).unlink()
