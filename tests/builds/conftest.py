from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import settings

from bisect_tool.builds.build import Wanted
from bisect_tool.builds.fitting import target_for

settings.register_profile("busy machine", deadline=None)
settings.load_profile("busy machine")

JSON = "application/vnd.pypi.simple.v1+json"


@dataclass
class Answer:
    body: bytes
    content_type: str = "text/html"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    password: str | None = None
    announced: int | None = None


@dataclass
class Site:
    """Answers what it was given for a path, else 404, and remembers who asked for what."""

    url: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def serve_json(self, package: str, files: list[dict[str, Any]], **rest: Any) -> None:
        known = {"versions": rest.pop("versions")} if "versions" in rest else {}
        page = {"meta": {"api-version": "1.1"}, "name": package, "files": files, **known}
        self.answers[f"/simple/{package}/"] = Answer(json.dumps(page).encode(), JSON, **rest)

    def serve_html(self, package: str, body: str, **rest: Any) -> None:
        self.answers[f"/simple/{package}/"] = Answer(f"<!DOCTYPE html><html>{body}</html>".encode(), **rest)


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            answer = site.answers.get(self.path, Answer(b"nothing here", status=404))
            if answer.password is not None:
                basic = "Basic " + base64.b64encode(answer.password.encode()).decode()
                if self.headers.get("Authorization") != basic:
                    answer = Answer(b"who are you?", status=401)
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(answer.announced or len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_HEAD = do_GET  # noqa: N815 - http.server looks for this name

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    return Handler


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(site)) as server:
        site.url = f"http://127.0.0.1:{server.server_port}/simple/"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield site
        server.shutdown()
        thread.join()


@pytest.fixture
def wanted() -> Wanted:
    return Wanted("toy", target_for("3.11.7"))
