from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.rig.postgres import PostgresServer, postgres_server

# Property tests draw the same examples everywhere, so that no change fails by the luck of another's draw. Whoever looks for
# new counter-examples draws new ones: `pytest --hypothesis-profile explore`; what that finds becomes an example of its test.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", derandomize=False, max_examples=1000, deadline=None)
settings.load_profile("same")


def pytest_configure() -> None:
    """Whoever starts the tests in the background has them ignore Ctrl-C, and every process of theirs too; some test it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that no worker is left with minutes of work when the others are done."""
    items.sort(key=_length, reverse=True)
    for item in items:
        if item.nodeid.startswith(WITH_PROCESSES):
            item.add_marker(pytest.mark.flaky(reruns=1))


# What runs here starts processes and waits for them. On a machine that has more to do than it can, one of them now and then
# comes too late; such a test may run once more, and is named at the end (R). What is pure gets no second chance.
WITH_PROCESSES = tuple(
    f"tests/{room}/"
    for room in ("browser", "deploy", "environments", "image", "integration", "runs", "service", "store", "trials")
)


# Tests that start servers, clusters and browsers.
LONG = (
    "tests/browser/",
    "tests/integration/",
    "tests/runs/executors/",
    "tests/service/test_worker",
    "tests/service/test_serv",
    "tests/service/github/test_every_moment",
    "tests/soak/",
)


def _length(item: pytest.Item) -> int:
    if item.get_closest_marker("torch"):
        return 3
    return 2 if item.nodeid.startswith(LONG) else 1 if item.nodeid.startswith("tests/property/") else 0


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server, started for the first test that wants it."""
    with postgres_server() as server:
        yield server
