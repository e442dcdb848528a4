from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.store.address import StoreAddress, file_address
from bisect_tool.store.database import Database, Patience, open_database
from bisect_tool.store.results import open_results
from tests.store.conftest import address, made_file

__all__ = ["address", "made_file"]

SPAN = 1000.0  # nothing is silent for so long, unless a test says so


@pytest.fixture
def own_address(made_file: Path, tmp_path: Path) -> StoreAddress:
    """A database in a file."""
    shutil.copy(made_file, tmp_path / "shared.sqlite")
    return file_address(tmp_path / "shared.sqlite", is_own=False)


@pytest.fixture
def database(address: StoreAddress) -> Iterator[Database]:
    """A database of each kind, at the newest schema."""
    with open_results(address, nullcontext) as results:
        yield results.database


@pytest.fixture
def file_database(made_file: Path, tmp_path: Path) -> Iterator[Database]:
    """A database in a file of its own, for tests to which the kind makes no difference."""
    shutil.copy(made_file, tmp_path / "own.sqlite")
    opened = open_database(file_address(tmp_path / "own.sqlite", is_own=False), nullcontext, Patience())
    yield opened
    opened.close()


@pytest.fixture
def questions(database: Database) -> Questions:
    return Questions(database)


@pytest.fixture
def queue(database: Database) -> Queue:
    return Queue(database, SPAN)
