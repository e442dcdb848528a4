from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bisect_tool.service.app import make_app
from bisect_tool.service.services import Services
from bisect_tool.store.address import file_address
from tests.rig.opened_services import ADDRESS, opened_services


@pytest.fixture
def services(made_file: Path, tmp_path: Path) -> Iterator[Services]:
    """Those of a server on loopback without tokens."""
    shutil.copy(made_file, tmp_path / "shared.sqlite")
    with opened_services(file_address(tmp_path / "shared.sqlite", is_own=False), tmp_path / "cache") as services:
        yield services


@pytest.fixture
def client(services: Services) -> TestClient:
    """A browser without script that follows nothing by itself."""
    return TestClient(make_app(services), base_url=ADDRESS, follow_redirects=False)
