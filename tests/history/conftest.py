from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bisect_tool.history.projects import KNOWN, Project
from bisect_tool.history.source import HistoryAccess, Source, open_source
from tests.history.places import PLACES, Place, open_place
from tests.rig.git_history import run_git
from tests.rig.git_history.typical import Typical, make_typical


@pytest.fixture(scope="session")
def typical(tmp_path_factory: pytest.TempPathFactory) -> Typical:
    """Three weeks of a project like torch."""
    return make_typical(tmp_path_factory.mktemp("history") / "origin.git")


@pytest.fixture(scope="session")
def torch() -> Project:
    return KNOWN[0]


@pytest.fixture(scope="session", params=PLACES)
def source(
    request: pytest.FixtureRequest, typical: Typical, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Source]:
    """The same history, read in every way that there is."""
    with open_place(Place(request.param), typical.folder, tmp_path_factory.mktemp("place")) as opened:
        yield opened


@pytest.fixture
def shallow(typical: Typical, tmp_path: Path, torch: Project) -> Source:
    run_git("clone", "--quiet", "--bare", "--depth=5", f"file://{typical.folder}", str(tmp_path / "shallow.git"))
    run_git("fetch", "--quiet", "--depth=1", "origin", "tag", "v2.99.0", at=tmp_path / "shallow.git")
    return open_source(torch, HistoryAccess(clone=tmp_path / "shallow.git", environ={"PATH": "/usr/bin:/bin"}))
