"""The services of a server over a database of their own, without a workshop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.service.event_log import EventLog
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.service.services import Hosting, Services
from bisect_tool.service.tokens import Tokens
from bisect_tool.settings import read_settings
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.results import open_results

ADDRESS = "http://127.0.0.1:8765"


@contextmanager
def opened_services(address: StoreAddress, folder: Path, hosting: Hosting | None = None) -> Iterator[Services]:
    """Services over the database at `address`; `folder` is the cache, where the logs of trials are looked for."""
    with open_results(address, nullcontext) as results:
        database = results.database
        yield Services(
            settings=read_settings({"cache": str(folder)}, {}, folder),
            hosting=hosting or Hosting(address=ADDRESS),
            cache=CacheFolder(folder),
            results=results,
            questions=Questions(database),
            queue=Queue(database, 1000.0),
            events=EventLog(database),
            tokens=Tokens(database),
        )
