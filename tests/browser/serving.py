"""The service without workers on a free port of this machine: whoever looks at its pages is its worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from bisect_tool.service.app import make_app
from bisect_tool.service.services import EVERYBODY_HERE, Hosting, Services
from bisect_tool.service.serving import listen
from bisect_tool.service.tokens import Scope
from bisect_tool.store.address import file_address
from tests.rig.opened_services import opened_services


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers at `address`."""

    address: str
    services: Services


@contextmanager
def served(folder: Path, open_to: frozenset[Scope] = EVERYBODY_HERE) -> Iterator[Server]:
    """A server in a thread over a new database in `folder`, stopped at the end."""
    with closing(listen("127.0.0.1", 0)) as socket:
        port = socket.getsockname()[1]
        hosting = Hosting(port=port, address=f"http://127.0.0.1:{port}", open_to=open_to)
        with opened_services(file_address(folder / "results.sqlite"), folder / "cache", hosting) as services:
            app = make_app(services)
            server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
            thread = threading.Thread(target=server.run, args=([socket],), name="the service")
            thread.start()
            try:
                yield Server(hosting.address, services)
            finally:
                server.should_exit = server.force_exit = True  # open streams do not hold it up
                thread.join()
