"""The figures of `docs/service-figures.md`: `python -m tests.benchmarks.service [--postgres]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bisect_tool.service.question import Asker
from bisect_tool.service.questions import Questions
from bisect_tool.store.address import StoreAddress
from tests.benchmarks.service.load import burst, loaded, streams
from tests.rig.asked import submission
from tests.rig.postgres import postgres_server


def main() -> None:
    """Measure, and print what was measured."""
    with tempfile.TemporaryDirectory() as folder, _store() as store, loaded(Path(folder), store) as place:
        for count, clients, first in ((100, 1, 5000), (1000, 20, 0)):
            found = burst(place, count, clients, first)
            print(f"{found}\n  {found.rate:.0f} submissions a second")
        question = Questions(place.results.database).submit(submission("streams"), Asker()).question.id
        print(streams(place, question, 200, 20))


@contextmanager
def _store() -> Iterator[StoreAddress | None]:
    if "--postgres" not in sys.argv:
        yield None
        return
    with postgres_server() as server, server.database() as address:
        yield address


if __name__ == "__main__":
    main()
