from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from bisect_tool.store.address import StoreAddress, file_address
from bisect_tool.store.results import open_results
from tests.rig.postgres import PostgresServer


@pytest.fixture(scope="session")
def made_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database without rows, made once: making its tables takes longer than most tests."""
    path = tmp_path_factory.mktemp("made") / "results.sqlite"
    open_results(path, nullcontext).close()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreAddress]:
    """A database that several hosts may share, of each kind."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("made_file"), tmp_path / "shared.sqlite")
        yield file_address(tmp_path / "shared.sqlite", is_own=False)
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreAddress]:
    """A database without tables, of each kind."""
    if request.param == "sqlite":
        yield file_address(tmp_path / "shared.sqlite", is_own=False)
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.database(empty=True) as address:
        yield address
