from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from bisect_tool.store.address import StoreAddress
from bisect_tool.store.database import Database, Patience, open_database
from tests.store.conftest import address, made_file

__all__ = ["address", "made_file"]  # fixtures


@pytest.fixture
def database(address: StoreAddress) -> Iterator[Database]:
    """An open database of each kind."""
    opened = open_database(address, nullcontext, Patience())
    yield opened
    opened.close()
