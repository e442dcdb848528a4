"""What the local servers of the rig share: a thread per connection, and the rules of HTTP about parts and copies."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import sys
import threading
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.rig.wire import BLOCK, Wire

if TYPE_CHECKING:
    from tests.rig.index_state import RequestLog

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class LoopbackServer(ThreadingHTTPServer):
    """A thread per connection on 127.0.0.1; `cut_off` ends them all. Port 0 takes a free one."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, port: int, handler: type[BaseHTTPRequestHandler], wire: Wire | None = None) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.wire = wire or Wire()
        self.connections: set[socket.socket] = set()

    @property
    def port(self) -> int:
        """The port that was taken."""
        return int(self.server_address[1])

    @contextlib.contextmanager
    def at_work(self, name: str) -> Iterator[None]:
        """Serve in a thread of that name until the block ends."""
        thread = threading.Thread(target=self.serve_forever, args=(0.02,), name=name, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            self.cut_off()
            self.server_close()
            thread.join()

    def cut_off(self) -> None:
        """Close every connection."""
        for connection in tuple(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of the server; everything else is shown."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class LoopbackHandler(BaseHTTPRequestHandler):
    """One connection, which its server knows."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: LoopbackServer

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)
        self.lane = self.server.wire.connected()

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Keep still: each server has a request log of its own."""

    def put(self, content: bytes, log: RequestLog, name: str) -> None:
        """Send bytes of a body over the wire; `log` counts those that were really sent."""
        for start in range(0, len(content), BLOCK):
            block = content[start : start + BLOCK]
            self.lane.send(len(block))
            self.wfile.write(block)
            log.written[name] += len(block)

    def reset(self) -> None:
        """Close with RST instead of FIN: linger for no time."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


def is_known(asked: Mapping[str, str], etag: str, modified: str | None) -> bool:
    """Whether the client has this very content (RFC 9110, 13.1.2 and 13.1.3); `asked` are the request's headers."""
    known, since = asked.get("If-None-Match"), asked.get("If-Modified-Since")
    if known:
        return etag in known
    return bool(since and modified and parsedate_to_datetime(modified) <= parsedate_to_datetime(since))


def is_same(asked: Mapping[str, str], etag: str, modified: str | None) -> bool:
    """Whether a part may be sent: the client has parts of this very content, or none (RFC 9110, 13.1.5)."""
    condition = asked.get("If-Range")
    return condition is None or condition in {etag, modified}


def asked_span(header: str, total: int) -> tuple[int, int] | None:
    """The bytes that a Range header asks for, as start and stop; start ≥ stop when there are none of them.

    None when everything is to be sent: no header, another unit, or several ranges at once.
    """
    asked = _RANGE.fullmatch(header)
    if not asked or asked.groups() == ("", ""):
        return None
    first, last = asked.groups()
    start = int(first) if first else max(0, total - int(last))
    return start, min(int(last) + 1, total) if first and last else total
