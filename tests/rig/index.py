"""A package index on 127.0.0.1 over a folder of wheels, which does wrong what it is told to do wrong.

By hand: ``python -m tests.rig.index FOLDER --port 0``. In tests::

    with serve(folder) as index:
        index.plant("toy-1.0-py3-none-any.whl", status(503, times=2))
        ...  # uv pip install --default-index {index.url} toy
        assert index.log.count(RequestKind.FILE) == 3
"""

from __future__ import annotations

import argparse
import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.rig.index_server import IndexServer
from tests.rig.index_state import Index, Request, RequestKind, RequestLog
from tests.rig.wire import Wire

__all__ = ["Index", "Request", "RequestKind", "RequestLog", "serve"]


@contextlib.contextmanager
def serve(
    folder: Path, *, port: int = 0, max_age: int = 0, compress: bool = True, wire: Wire | None = None
) -> Iterator[Index]:
    """Serve `folder` until the block ends, over `wire`; requests under way are cut off then."""
    index = Index(folder, max_age=max_age, compress=compress, wire=wire or Wire())
    server = IndexServer(index, port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="index", daemon=True)
    thread.start()
    try:
        yield index
    finally:
        index.closing.set()
        index.wire.closing.set()
        server.shutdown()
        server.cut_off()
        server.server_close()
        thread.join()


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a folder until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.rig.index", description="Serve a folder of wheels.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=0)
    chosen = parser.parse_args(arguments)
    with serve(chosen.folder, port=chosen.port) as index, contextlib.suppress(KeyboardInterrupt):
        print(index.url, flush=True)
        index.closing.wait()


if __name__ == "__main__":
    main()
