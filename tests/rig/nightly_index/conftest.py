from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

import pytest
import requests

from tests.rig.nightly_index import NightlyIndex


class Client:
    """Asks an index, and closes its connections at the end of the test."""

    def __init__(self) -> None:
        self.session = requests.Session()

    def get(self, address: str, **headers: str) -> requests.Response:
        return self.session.get(address, headers=_names(headers), timeout=10)

    def head(self, address: str, **headers: str) -> requests.Response:
        return self.session.head(address, headers=_names(headers), timeout=10)

    def links(self, index: NightlyIndex, page: str) -> dict[str, str]:
        """Link by text, of a page such as ``cpu/torch/``."""
        found = re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a><br/>', self.get(f"{index.address}/{page}").text)
        return {text: link for link, text in found}

    def dates(self, index: NightlyIndex, page: str) -> list[date]:
        """The different dates on a page, oldest first."""
        stamps = set(re.findall(r"\.dev(\d{8})\+", self.get(f"{index.address}/{page}").text))
        return [date.fromisoformat(f"{s[:4]}-{s[4:6]}-{s[6:]}") for s in sorted(stamps)]


def _names(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.fixture
def client() -> Iterator[Client]:
    client = Client()
    yield client
    client.session.close()
