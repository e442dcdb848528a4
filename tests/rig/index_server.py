"""The HTTP side of `tests.rig.index`: ranges, conditional requests, negotiation, and faults on the wire."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from tests.rig import index_pages
from tests.rig.index_faults import Fault, FaultKind
from tests.rig.index_state import Index, Planted, Request, RequestKind
from tests.rig.loopback import LoopbackHandler, LoopbackServer, asked_span, is_known, is_same

LOGIN_PAGE = b"<!DOCTYPE html>\n<html><body><form>Please sign in to this network.</form></body></html>\n"
PIECES = 10


@dataclass(slots=True)
class Reply:
    """An answer before the faults of the wire act on it."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class IndexServer(LoopbackServer):
    """Serves one index."""

    def __init__(self, index: Index, port: int) -> None:
        super().__init__(port, Handler, index.wire)
        self.index = index
        index.port = self.port


class Handler(LoopbackHandler):
    """One connection."""

    server: IndexServer

    def do_GET(self) -> None:  # noqa: N802 - http.server looks for this name
        """Answer, with the faults of the moment."""
        kind, name = _asked_for(urlsplit(self.path).path)
        self.lane.answer()
        faults = self.server.index.striking(name)
        kinds = {planted.fault.kind: planted.fault for planted in faults}
        reply = self._reply(kind, name, faults)
        if fault := kinds.get(FaultKind.STATUS):
            again = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
            reply = Reply(fault.status, f"{fault.status} planted by the rig\n".encode(), again)
        if fault := kinds.get(FaultKind.SLOW) or kinds.get(FaultKind.HANG):
            self.server.index.closing.wait(fault.seconds)
        cut = FaultKind.RESET in kinds or FaultKind.HANG in kinds
        body = b"" if cut or self.command == "HEAD" else reply.body
        if FaultKind.TRUNCATED in kinds:
            body = body[: len(body) // 2]
        header = {key.lower(): value for key, value in self.headers.items()}
        request = Request(self.command, self.path, kind, name, reply.status, len(body), header)
        self.server.index.log.requests.append(request)  # before the answer, so that a client finds it in the log
        if cut:
            self.reset()
        else:
            self._send(reply, body, kinds)

    do_HEAD = do_GET  # noqa: N815 - likewise

    def _reply(self, kind: RequestKind, name: str, faults: Sequence[Planted]) -> Reply:
        match kind:
            case RequestKind.ROOT:
                return self._root()
            case RequestKind.PAGE:
                return self._page(name, faults)
            case RequestKind.FILE | RequestKind.METADATA:
                return self._file(kind, name, faults)
            case RequestKind.OTHER:
                return Reply(404, b"404 no such path\n")

    def _root(self) -> Reply:
        as_json = index_pages.prefers_json(self.headers.get("Accept", ""))
        body = index_pages.root_page(index_pages.projects(self.server.index.folder), as_json=as_json)
        return self._packed(body, index_pages.JSON_TYPE if as_json else "text/html")

    def _page(self, name: str, faults: Sequence[Planted]) -> Reply:
        if not self.path.endswith("/") or not index_pages.is_normalised(name):
            return Reply(301, headers={"Location": f"/simple/{canonicalize_name(name)}/"})
        kinds = {planted.fault.kind for planted in faults}
        if FaultKind.NOT_AN_INDEX in kinds:
            return Reply(200, LOGIN_PAGE, {"Content-Type": "text/html"})
        replaced = [planted.fault.content for planted in faults if planted.fault.kind is FaultKind.REPLACED]
        if replaced:
            return Reply(200, replaced[0], {"Content-Type": index_pages.JSON_TYPE})
        files = self.server.index.page_files(name, faults)
        if not files:
            return Reply(404, b"404 no such project\n")
        if index_pages.prefers_json(self.headers.get("Accept", "")) and FaultKind.HTML_ONLY not in kinds:
            return self._packed(index_pages.json_page(name, files), index_pages.JSON_TYPE)
        return self._packed(index_pages.html_page(name, files), "text/html")

    def _packed(self, body: bytes, content_type: str) -> Reply:
        headers = {"Content-Type": content_type, "Vary": "Accept, Accept-Encoding"}
        headers["Cache-Control"] = f"max-age={self.server.index.max_age}, public"
        reply = self._conditional(Reply(200, body, headers | {"ETag": _etag(body)}))
        if self.server.index.compress and "gzip" in self.headers.get("Accept-Encoding", "") and reply.body:
            reply.body = gzip.compress(reply.body, mtime=0)
            reply.headers["Content-Encoding"] = "gzip"
        return reply

    def _file(self, kind: RequestKind, name: str, faults: Sequence[Planted]) -> Reply:
        path = self.server.index.folder / name.removesuffix(".metadata")
        if not path.is_file() or not path.name.endswith(index_pages.ENDINGS):
            return Reply(404, b"404 no such file\n")
        body = index_pages.metadata_of(path) if kind is RequestKind.METADATA else path.read_bytes()
        kinds = {planted.fault.kind: planted.fault for planted in faults}
        if FaultKind.REPLACED in kinds:
            body = kinds[FaultKind.REPLACED].content
        if body is None or (kind is RequestKind.METADATA and FaultKind.NO_METADATA in kinds):
            return Reply(404, b"404 no metadata\n")
        headers = {
            "Content-Type": "application/octet-stream",
            "Cache-Control": "max-age=365000000, immutable, public",
            "Last-Modified": formatdate(path.stat().st_mtime, usegmt=True),
            "ETag": _etag(body),
        }
        reply = self._conditional(Reply(200, body, headers))
        return reply if FaultKind.NO_RANGES in kinds else self._ranged(reply)

    def _conditional(self, reply: Reply) -> Reply:
        """304 when the client has this very content."""
        fresh = is_known(self.headers, reply.headers["ETag"], reply.headers.get("Last-Modified"))  # type: ignore[arg-type]
        return Reply(304, headers=reply.headers) if fresh else reply

    def _ranged(self, reply: Reply) -> Reply:
        """The part that a Range header asks for; several ranges at once are answered with everything."""
        reply.headers["Accept-Ranges"] = "bytes"
        total = len(reply.body)
        span = asked_span(self.headers.get("Range", ""), total)
        known = is_same(self.headers, reply.headers["ETag"], reply.headers.get("Last-Modified"))  # type: ignore[arg-type]
        if reply.status != HTTPStatus.OK or span is None or not known:
            return reply
        start, stop = span
        if start >= stop:
            return Reply(416, headers={"Content-Range": f"bytes */{total}"})
        headers = reply.headers | {"Content-Range": f"bytes {start}-{stop - 1}/{total}"}
        return Reply(206, reply.body[start:stop], headers)

    def _send(self, reply: Reply, body: bytes, kinds: dict[FaultKind, Fault]) -> None:
        announced = len(reply.body)
        if FaultKind.WRONG_LENGTH in kinds:
            announced = max(0, announced - PIECES)
        if FaultKind.TRUNCATED in kinds or FaultKind.WRONG_LENGTH in kinds:
            self.close_connection = True
        self.send_response(reply.status)
        for key, value in reply.headers.items():
            self.send_header(key, value)
        if reply.status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(announced))
        self.end_headers()
        _, name = _asked_for(urlsplit(self.path).path)
        self._write(body, kinds[FaultKind.DRIP].seconds if FaultKind.DRIP in kinds else 0.0, name)

    def _write(self, body: bytes, pause: float, name: str) -> None:
        step = max(1, -(-len(body) // PIECES)) if pause else max(1, len(body))
        for start in range(0, len(body), step):
            if pause:
                self.server.index.closing.wait(pause)
            self.put(body[start : start + step], self.server.index.log, name)


def _etag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def _asked_for(path: str) -> tuple[RequestKind, str]:
    """What a path means: its kind, and the project or file name."""
    match [unquote(part) for part in path.strip("/").split("/")]:
        case ["simple"]:
            return RequestKind.ROOT, ""
        case ["simple", project]:
            return RequestKind.PAGE, project
        case ["files", name] if "/" not in name:
            return (RequestKind.METADATA if name.endswith(".metadata") else RequestKind.FILE), name
        case _:
            return RequestKind.OTHER, path
