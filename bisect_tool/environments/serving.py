"""A wheel for uv, over HTTP on this machine, while it is still being fetched: uv unpacks what is here already.

uv keeps a wheel that it got from an address under that address. So the address is the same each time: it follows from the
content, on one of the 16 million addresses of the loopback network. Nothing is asked for when uv has the wheel.
"""

from __future__ import annotations

import contextlib
import re
import socketserver
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, urlsplit

from bisect_tool.environments.answers import FetchFault
from bisect_tool.environments.fetching import Fetch

PORT = 38917  # any that is free nearly everywhere; another one only costs that uv unpacks once more
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
# Final for uv, and not one of those that say that there is no such wheel.
_FAILED = HTTPStatus.FAILED_DEPENDENCY


class WheelServer(ThreadingHTTPServer):
    """Serves the one file of `fetch` at `path`; the fetch begins with the first request."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, place: tuple[str, int], fetch: Fetch, path: str) -> None:
        super().__init__(place, _Handler)
        self.fetch = fetch
        self.path = path

    def server_bind(self) -> None:
        """Without the question for the name of the host, which may take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    @property
    def address(self) -> str:
        """Where uv finds it."""
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}{self.path}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A uv that went away, or a download that failed, is told by whoever called uv."""


@contextlib.contextmanager
def serve(fetch: Fetch, digest: str, secret: str, filename: str) -> Iterator[WheelServer]:
    """Serve until the block ends. `digest` (hexadecimal) tells contents apart, `secret` keeps strangers out.

    Raises `OSError` when nothing can be served on this machine.
    """
    path = f"/{secret}/{digest}/{quote(filename)}"
    server = _opened(fetch, digest, path)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="wheel", daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.fetch.close()
        server.server_close()
        thread.join()


def _opened(fetch: Fetch, digest: str, path: str) -> WheelServer:
    try:
        return WheelServer((host_for(digest), PORT), fetch, path)
    except OSError:
        return WheelServer(("127.0.0.1", 0), fetch, path)


def host_for(digest: str) -> str:
    """The loopback address of a content: 127.64.0.1 to 127.127.255.254."""
    first, second, third = bytes.fromhex(digest[:6])
    return f"127.{64 + first % 64}.{second}.{1 + third % 254}"


class _Handler(BaseHTTPRequestHandler):
    """One connection of uv."""

    protocol_version = "HTTP/1.1"
    server: WheelServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Keep still."""

    def do_GET(self) -> None:
        """The file or a part of it, as it arrives."""
        if urlsplit(self.path).path != self.server.path:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        fetch = self.server.fetch
        try:
            size = fetch.size()
            if fetch.fault is not None:  # uv would try again and again
                raise fetch.fault
        except FetchFault as fault:
            self._refuse(fault.status or _FAILED)
            return
        start, stop, is_part = _span(self.headers.get("Range", ""), size) if fetch.is_ranged else (0, size, False)
        self._head(start, stop, size, is_part=is_part)
        if self.command == "HEAD":
            return
        try:
            for block in fetch.read(start, stop):
                self.wfile.write(block)
        except (FetchFault, OSError):
            # Shorter than was announced: uv sees that something is missing.
            self.close_connection = True

    do_HEAD = do_GET  # noqa: N815 - likewise

    def _head(self, start: int, stop: int, size: int, *, is_part: bool) -> None:
        self.send_response(HTTPStatus.PARTIAL_CONTENT if is_part else HTTPStatus.OK)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Cache-Control", "max-age=365000000, immutable")
        self.send_header("Content-Length", str(stop - start))
        if self.server.fetch.is_ranged:
            self.send_header("Accept-Ranges", "bytes")
        if is_part:
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
        self.end_headers()

    def _refuse(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


def _span(header: str, size: int) -> tuple[int, int, bool]:
    """Start and stop of what is asked for, and whether that is a part."""
    asked = _RANGE.fullmatch(header)
    if asked is None or asked.groups() == ("", ""):
        return 0, size, False
    first, last = asked.groups()
    start = int(first) if first else max(0, size - int(last))
    stop = min(int(last) + 1, size) if first and last else size
    return (start, stop, True) if start < stop else (0, size, False)
