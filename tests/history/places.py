from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from bisect_tool.history.projects import KNOWN
from bisect_tool.history.source import HistoryAccess, Source, open_source
from tests.rig.git_history import run_git
from tests.rig.github import serve

ENVIRON = {"PATH": "/usr/bin:/bin"}
TORCH = KNOWN[0]


class Place(StrEnum):
    """Ways to read a history."""

    BARE = "bare"
    CLONE = "clone"
    BLOBLESS = "blobless"
    GITHUB = "github"


PLACES = tuple(Place)


@contextlib.contextmanager
def open_place(place: Place, folder: Path, scratch: Path) -> Iterator[Source]:
    """The bare repository `folder`, read in one of the ways."""
    if place is Place.GITHUB:
        with serve(folder) as github:
            yield open_source(TORCH, HistoryAccess(api=github.url, cache=scratch / "answers", token="rig"))
        return
    yield open_source(TORCH, HistoryAccess(clone=_cloned(place, folder, scratch), environ=ENVIRON))


def _cloned(place: Place, folder: Path, scratch: Path) -> Path:
    if place is Place.BARE:
        return folder
    run_git("config", "uploadpack.allowFilter", "true", at=folder)
    filtered = ["--filter=blob:none", "--bare"] if place is Place.BLOBLESS else ["--no-checkout"]
    run_git("clone", "--quiet", *filtered, f"file://{folder}", str(scratch / "clone"))
    return scratch / "clone"
