from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.database import Database
from bisect_tool.store.results import open_results
from tests.store.conftest import address, made_file

__all__ = ["address", "made_file"]

SPAN = 1000.0  # nothing is silent for so long, unless a test says so


@pytest.fixture
def database(address: StoreAddress) -> Iterator[Database]:
    """A database of each kind, at the newest schema."""
    with open_results(address, nullcontext) as results:
        yield results.database


@pytest.fixture
def questions(database: Database) -> Questions:
    return Questions(database)


@pytest.fixture
def queue(database: Database) -> Queue:
    return Queue(database, SPAN)
