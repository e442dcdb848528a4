from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Whoever starts the tests in the background has them ignore Ctrl-C, and every process of theirs too; some test it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
