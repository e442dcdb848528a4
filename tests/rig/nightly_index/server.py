"""The two hosts of the nightly index over HTTP: pages, wheels, parts of wheels, and faults on the wire."""

from __future__ import annotations

import base64
import contextlib
import gzip
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote, urlsplit

from tests.rig.index_faults import Fault, FaultKind
from tests.rig.index_server import LOGIN_PAGE
from tests.rig.index_state import Request, RequestKind
from tests.rig.loopback import LoopbackHandler, LoopbackServer, asked_span, is_known, is_same
from tests.rig.nightly_index.bodies import Body, BytesBody
from tests.rig.nightly_index.pages import regenerated
from tests.rig.nightly_index.paths import Asked, asked_for
from tests.rig.nightly_index.site import package_list, page_of

if TYPE_CHECKING:
    from tests.rig.nightly_index.index import NightlyIndex

PIECES = 10
ABSENT = b"""<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>AccessDenied</Code><Message>Access Denied</Message><RequestId>RIG</RequestId><HostId>RIG</HostId></Error>"""
R2_ABSENT = b"<!DOCTYPE html><html><head><title>Not Found</title></head><body>404 Not Found</body></html>"
Kinds = Mapping[FaultKind, Fault]


@dataclass(slots=True)
class Reply:
    """An answer before the faults of the wire act on it: the bytes of `body` from `start` to `stop`."""

    status: int
    body: Body
    headers: dict[str, str] = field(default_factory=dict)
    start: int = 0
    stop: int = 0

    @classmethod
    def whole(cls, status: int, content: bytes, **headers: str) -> Self:
        """All of some bytes; underscores in the names of headers become dashes."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, BytesBody(content), names, 0, len(content))


class NightlyServer(LoopbackServer):
    """One host of an index: ``first`` is S3 behind CloudFront, ``r2`` the second one."""

    def __init__(self, index: NightlyIndex, port: int, *, host: str) -> None:
        super().__init__(port, NightlyHandler, index.wire)
        self.index = index
        self.host = host

    @property
    def is_second(self) -> bool:
        """Whether it stands for download-r2.pytorch.org."""
        return self.host == "r2"

    @contextlib.contextmanager
    def running(self) -> Iterator[Self]:
        """Serve until the block ends; requests under way are cut off then."""
        thread = threading.Thread(target=self.serve_forever, args=(0.02,), name=f"nightly {self.host}", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.cut_off()
            self.server_close()
            thread.join()


class NightlyHandler(LoopbackHandler):
    """One connection."""

    server: NightlyServer

    def do_GET(self) -> None:  # noqa: N802 - http.server looks for this name
        """Answer, with the faults of the moment."""
        path = unquote(urlsplit(self.path).path).strip("/") + ("/" if self.path.endswith("/") else "")
        asked = asked_for(path if "+" not in self.path else path.replace("+", " "))
        self.lane.answer()
        faults = self.server.index.faults.striking(self.command, asked.name, path)
        reply = self._stopped(faults) or self._reply(asked, path, faults)
        if fault := faults.get(FaultKind.SLOW) or faults.get(FaultKind.HANG):
            self.server.index.closing.wait(fault.seconds)
        cut = FaultKind.RESET in faults or FaultKind.HANG in faults
        announced = reply.stop - reply.start
        stop = reply.start if cut or self.command == "HEAD" else reply.stop
        if FaultKind.TRUNCATED in faults:
            stop = reply.start + (stop - reply.start) // 2
        self._note(asked, reply.status, stop - reply.start)
        if cut:
            self.reset()
        else:
            self._send(reply, announced, stop, faults)

    do_HEAD = do_GET  # noqa: N815 - likewise

    def _note(self, asked: Asked, status: int, sent: int) -> None:
        header = {key.lower(): value for key, value in self.headers.items()}
        request = Request(self.command, self.path, asked.kind, asked.name, status, sent, header, self.server.host)
        self.server.index.requests.requests.append(request)  # before the answer: a client finds it in the log

    def _stopped(self, faults: Kinds) -> Reply | None:
        """An answer that has nothing to do with what was asked for."""
        if FaultKind.NO_HEAD in faults and self.command == "HEAD":
            return Reply.whole(405, b"", Allow="GET")
        if fault := faults.get(FaultKind.STATUS):
            again = {} if fault.retry_after is None else {"Retry_After": str(fault.retry_after)}
            body = ABSENT if fault.status == HTTPStatus.FORBIDDEN else f"{fault.status} planted by the rig\n".encode()
            return Reply.whole(fault.status, body, **again)
        password = self.server.index.password
        basic = "Basic " + base64.b64encode((password or "").encode()).decode()
        if password and not self.server.is_second and self.headers.get("Authorization") != basic:
            return Reply.whole(401, b"who are you?", WWW_Authenticate='Basic realm="rig"')
        return None

    def _reply(self, asked: Asked, path: str, faults: Kinds) -> Reply:
        match asked.kind:
            case RequestKind.ROOT | RequestKind.PAGE:
                return self._page(asked, path, faults)
            case RequestKind.FILE | RequestKind.METADATA:
                return self._file(asked, faults)
            case RequestKind.OTHER:
                return self._absent()

    def _absent(self) -> Reply:
        if self.server.is_second:
            return Reply.whole(404, R2_ABSENT, Content_Type="text/html")
        return Reply.whole(403, ABSENT, Content_Type="application/xml")

    def _page(self, asked: Asked, path: str, faults: Kinds) -> Reply:
        if FaultKind.NOT_AN_INDEX in faults:
            return Reply.whole(200, LOGIN_PAGE, Content_Type="text/html")
        if fault := faults.get(FaultKind.REPLACED):
            return Reply.whole(200, fault.content, Content_Type="text/html")
        index = self.server.index
        moment = index.faults.page_moment(asked.name, path, index.now)
        listing = asked.kind is RequestKind.ROOT
        page = package_list(index, asked, moment) if listing else page_of(index, asked, moment, faults)
        if page is None:
            return self._absent()
        headers = {"Content-Type": "text/html", "Cache-Control": "no-cache,no-store,must-revalidate"}
        return self._packed(self._conditional(_of(BytesBody(page), headers, regenerated(moment))))

    def _packed(self, reply: Reply) -> Reply:
        """Compressed where the client takes that; CloudFront keeps the ETag as a weak one."""
        reply.headers["Vary"] = "Accept-Encoding"
        gzips = self.server.index.compress and "gzip" in self.headers.get("Accept-Encoding", "")
        if not gzips or reply.status != HTTPStatus.OK:
            return reply
        body = BytesBody(gzip.compress(b"".join(reply.body.read(reply.start, reply.stop)), mtime=0))
        headers = reply.headers | {"Content-Encoding": "gzip", "ETag": f"W/{reply.headers['ETag']}"}
        return Reply(reply.status, body, headers, 0, body.size)

    def _file(self, asked: Asked, faults: Kinds) -> Reply:
        index = self.server.index
        wheel = index.find(asked.key, r2=self.server.is_second)
        if wheel is None:
            return self._absent()
        body: Body
        if asked.kind is RequestKind.METADATA:
            text = index.metadata(wheel)
            if text is None or FaultKind.NO_METADATA in faults:
                return self._absent()
            body = BytesBody(text.encode())
        elif fault := faults.get(FaultKind.REPLACED):
            body = BytesBody(fault.content)
        else:
            body = index.body(wheel)
        return self._part_of(_of(body, {"Content-Type": "binary/octet-stream"}, index.modified(wheel)), faults)

    def _part_of(self, reply: Reply, faults: Kinds) -> Reply:
        etag = reply.headers["ETag"]
        if FaultKind.NO_RANGES in faults:
            return self._conditional(reply)
        reply.headers["Accept-Ranges"] = "bytes"
        reply = self._conditional(reply)
        span = asked_span(self.headers.get("Range", ""), reply.body.size)
        if reply.status != HTTPStatus.OK or span is None:
            return reply
        if not is_same(dict(self.headers.items()), etag, reply.headers["Last-Modified"]):
            return reply
        if span[0] >= span[1]:
            return Reply.whole(416, b"", Content_Range=f"bytes */{reply.body.size}")
        headers = reply.headers | {"Content-Range": f"bytes {span[0]}-{span[1] - 1}/{reply.body.size}"}
        return Reply(206, reply.body, headers, *span)

    def _conditional(self, reply: Reply) -> Reply:
        etag, changed = reply.headers["ETag"], reply.headers["Last-Modified"]
        demanded = self.headers.get("If-Match", "*")
        if demanded != "*" and etag not in demanded:
            return Reply.whole(412, b"")
        if is_known(dict(self.headers.items()), etag, changed):
            return Reply(304, reply.body, reply.headers)
        return reply

    def _send(self, reply: Reply, announced: int, stop: int, faults: Kinds) -> None:
        if FaultKind.WRONG_LENGTH in faults:
            announced = max(0, announced - PIECES)
        if FaultKind.TRUNCATED in faults or FaultKind.WRONG_LENGTH in faults:
            self.close_connection = True
        self.send_response(reply.status)
        for key, value in reply.headers.items():
            self.send_header(key, value)
        if reply.status != HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(announced))
        self.end_headers()
        if stop > reply.start:
            name = asked_for(unquote(urlsplit(self.path).path).strip("/")).name
            self._write(reply.body.read(reply.start, stop), faults.get(FaultKind.DRIP), stop - reply.start, name)

    def _write(self, pieces: Iterator[bytes], drip: Fault | None, length: int, name: str) -> None:
        step = max(1, -(-length // PIECES)) if drip else length
        sent = 0
        for piece in pieces:
            for part in _cut(piece, step - sent % step, step):
                if drip and sent % step == 0:
                    self.server.index.closing.wait(drip.seconds)
                self.put(part, self.server.index.requests, name)
                sent += len(part)

    def version_string(self) -> str:
        return "cloudflare" if self.server.is_second else "AmazonS3"


def _cut(piece: bytes, first: int, step: int) -> Iterator[bytes]:
    """A piece in parts: the first of them `first` bytes long, the others `step`."""
    start = 0
    while start < len(piece):
        yield piece[start : start + first]
        start, first = start + first, step


def _of(body: Body, headers: dict[str, str], modified: datetime) -> Reply:
    stamps = {"ETag": body.etag, "Last-Modified": format_datetime(modified.replace(microsecond=0), usegmt=True)}
    return Reply(200, body, headers | stamps, 0, body.size)
