"""HEAD gets what GET would, on every address."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from starlette.routing import BaseRoute
from starlette.types import Message

from bisect_tool.service.app import make_app
from bisect_tool.service.heads import HeadAsGet
from bisect_tool.service.log_lines import set_up_log
from bisect_tool.service.pages.router import router as pages
from bisect_tool.service.services import Services
from tests.rig.opened_services import ADDRESS
from tests.service.pages.test_routes import answered

# Of a head: which request it is, a key that is drawn, when it was made.
CHANGING = {"x-request-id", "set-cookie", "date"}
STREAM = "/api/v1/questions/{question}/events"


def addresses(client: TestClient) -> set[str]:
    """The paths of everything that has GET: of the API as it is described, and of the pages, which are not."""
    described = client.get("/openapi.json").json()["paths"]
    of_api = {path for path, methods in described.items() if "get" in methods}
    return {*of_api, *_of_pages(pages.routes), "/openapi.json"}


def _of_pages(routes: Sequence[BaseRoute]) -> Iterator[str]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield from [route.path] if "GET" in (route.methods or ()) else []
        else:
            yield from _of_pages(route.original_router.routes)  # type: ignore[attr-defined]


def test_every_address_that_has_get_has_head(client: TestClient, services: Services) -> None:
    question = answered(services, "exact")
    values = {"{question}": question.id, "{case}": "inductor", "{build:path}": "2.12.0", "{build}": "2.12.0",
              "{form}": "md", "{format}": "md", "{name}": "style.css", "{number}": "1", "{trial}": "1",
              "{run}": "0" * 32}  # fmt: skip
    paths = addresses(client) - {STREAM}
    assert {"/", "/healthz", "/metrics", "/openapi.json", "/favicon.ico"} < paths
    assert any(path.endswith("/badge.svg") for path in paths)
    assert len(paths) > 30
    for path in sorted(paths):
        for name, value in values.items():
            path = path.replace(name, value)  # noqa: PLW2901
        assert "{" not in path
        head, got = client.head(path), client.get(path)
        assert (path, head.status_code, head.content) == (path, got.status_code, b"")
        assert (path, kept(head.headers)) == (path, kept(got.headers))
        assert head.status_code < 500


def kept(headers: Any) -> dict[str, str]:
    """Without what changes from one request to the next; of a length it is kept that there is one, since metrics grow."""
    told = {name: value for name, value in headers.items() if name not in CHANGING}
    return told | ({"content-length": "some"} if "content-length" in told else {})


def test_what_is_refused_has_the_same_head(client: TestClient) -> None:
    for accept in ("text/html", "application/json"):
        for path, host in (("/nowhere", "testserver"), ("/q/q00000000000000000000", "testserver"), ("/", "evil")):
            told = {"accept": accept, "host": host if host == "evil" else "127.0.0.1"}
            head, got = client.head(path, headers=told), client.get(path, headers=told)
            assert (head.status_code, head.content) == (got.status_code, b"")
            assert got.status_code in {403, 404}
            assert kept(head.headers) == kept(got.headers)


def test_of_a_stream_only_the_head_is_waited_for(client: TestClient, services: Services) -> None:
    question = answered(services, "exact")
    head = client.head(STREAM.replace("{question}", question.id))  # GET has no end
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"].startswith("text/event-stream")
    assert client.app.state.feed.open_streams == 0  # type: ignore[attr-defined]
    assert client.head("/api/v1/questions/q00000000000000000000/events").status_code == 404


def test_head_changes_nothing_where_there_is_no_get(client: TestClient, services: Services) -> None:
    question = answered(services, "exact")
    refused = client.head(f"/q/{question.id}/cancel")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert client.delete("/healthz").headers["allow"] == "GET, HEAD"


def test_the_log_says_what_was_asked(services: Services, capsys: pytest.CaptureFixture[str]) -> None:
    set_up_log(services.results.address)
    TestClient(make_app(services), base_url=ADDRESS).head("/healthz")
    line = capsys.readouterr().err
    assert '"method": "HEAD"' in line


def test_a_stream_that_has_begun_is_ended() -> None:
    sent: list[Message] = []
    ended: list[bool] = []

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        assert scope["method"] == "GET"
        scope["route"] = "the route"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def keep(message: Message) -> None:
        sent.append(message)

    async def nothing() -> Message:
        raise AssertionError

    scope = {"type": "http", "method": "HEAD", "path": "/", "headers": []}
    # In a thread of its own: a test with a browser may have left a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(HeadAsGet(app)(scope, nothing, keep))).result()
    assert ended == [True]
    assert (scope["method"], scope["route"]) == ("HEAD", "the route")
    assert [message.get("more_body") for message in sent] == [None, False]
