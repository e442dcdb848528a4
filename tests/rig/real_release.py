"""Wheels of real releases, from the package index."""

from __future__ import annotations

from pathlib import Path

import requests

from bisect_tool.builds.build import Wanted
from bisect_tool.builds.channel import Access, open_channel
from bisect_tool.builds.fitting import target_for


def fetch_release(package: str, version: str, python: str, folder: Path) -> Path:
    """The wheel of a release for a Python version (`3.11`), downloaded into `folder`."""
    listing = open_channel("release", Access()).listing(Wanted(package, target_for(python)))
    build = next(build for build in listing.builds if build.version == version)
    path = folder / build.filename
    with requests.get(build.location, stream=True, timeout=60) as answer, path.open("wb") as file:
        answer.raise_for_status()
        for piece in answer.iter_content(1 << 20):
            file.write(piece)
    return path
