"""What holds for every request and every answer."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from sqlalchemy import URL
from starlette.types import Message

from bisect_tool.service.app import make_app
from bisect_tool.service.guards import HEADERS, MOST_BYTES, MOST_BYTES_OF_QUESTION, BodyLimit
from bisect_tool.service.log_lines import set_up_log
from bisect_tool.service.services import Services
from bisect_tool.store.address import StoreAddress
from tests.rig.opened_services import ADDRESS
from tests.service.api.test_questions import QUESTIONS, handed_in

NOBODY = "q" + "0" * 20


def test_every_answer_has_the_headers(client: TestClient) -> None:
    paths = ("/healthz", QUESTIONS, "/nowhere", f"{QUESTIONS}/{NOBODY}", "/openapi.json", "/metrics")
    answers = [*map(client.get, paths), client.delete(QUESTIONS), client.get("/healthz", headers={"Host": "evil"})]
    for told in answers:
        assert {name: told.headers[name] for name in HEADERS} == HEADERS
        assert len(told.headers["x-request-id"]) == 16
        assert "server" not in told.headers
    assert [told.status_code for told in answers] == [200, 200, 404, 404, 200, 200, 405, 403]


def test_a_body_that_is_too_large(client: TestClient) -> None:
    def pieces(size: int) -> Iterator[bytes]:  # sent in chunks, without its size
        for _ in range(size // 500_000 + 1):
            yield b" " * 500_000

    json_type = {"content-type": "application/json"}
    said = client.post(QUESTIONS, content=b" " * (MOST_BYTES_OF_QUESTION + 1), headers=json_type)
    chunked = client.post(QUESTIONS, content=pieces(MOST_BYTES_OF_QUESTION), headers=json_type)
    other = client.post(f"{QUESTIONS}/{NOBODY}/retry", content=pieces(MOST_BYTES), headers=json_type)
    assert [told.status_code for told in (said, chunked, other)] == [413, 413, 413]
    assert other.json()["advice"] == "send at most 1 000 000 bytes"


def test_a_body_that_does_not_arrive() -> None:
    sent: list[Message] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        await receive()
        await receive()

    async def never() -> Message:
        if not sent_first:
            sent_first.append(True)
            return {"type": "http.request", "body": b"{", "more_body": True}
        await asyncio.Event().wait()
        raise AssertionError

    async def keep(message: Message) -> None:
        sent.append(message)

    async def answering(scope: Any, receive: Any, send: Any) -> None:
        with pytest.raises(OSError, match="did not arrive"):
            await app(scope, receive, send)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    sent_first: list[bool] = []
    scope = {"type": "http", "path": "/", "method": "POST", "headers": [], "state": {"request_id": "1"}}
    asyncio.run(BodyLimit(answering, patience=0.01)(scope, never, keep))
    assert [message["status"] for message in sent if message["type"] == "http.response.start"] == [408]


@pytest.fixture
def broken(services: Services, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A server with a route that has a defect."""
    router = APIRouter()

    @router.get("/broken")
    def break_down() -> None:
        raise ZeroDivisionError("with a secret")

    monkeypatch.setattr("bisect_tool.service.app.ROUTERS", (router,))
    return TestClient(make_app(services), base_url=ADDRESS)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    loggers = [logging.getLogger(name) for name in ("bisect.service", "uvicorn")]
    before = [(one.handlers[:], one.level, one.propagate) for one in loggers]
    set_up_log(StoreAddress(URL.create("postgresql", "ann", "hunter2", "db", database="x")), stream)
    yield stream
    for one, (handlers, level, propagate) in zip(loggers, before, strict=True):
        one.handlers[:], one.propagate = handlers, propagate
        one.setLevel(level)


def test_a_defect_tells_nothing_of_itself(broken: TestClient, log: io.StringIO) -> None:
    told = broken.get("/broken")
    assert (told.status_code, told.json()["detail"]) == (500, "the server has a defect")
    assert "secret" not in told.text
    assert {name: told.headers[name] for name in HEADERS} == HEADERS
    defect, request = lines(log)
    assert defect["request"] == request["request"] == told.json()["request"]
    assert "ZeroDivisionError: with a secret" in defect["traceback"]


def test_a_line_for_each_request_without_what_may_be_secret(client: TestClient, log: io.StringIO) -> None:
    token = "bisect_0123456789abcdef_" + "s" * 43
    client.get(f"/{token}", params={"key": "hidden"}, headers={"Authorization": f"Bearer {token}"})
    logging.getLogger("bisect.service").warning("postgresql://ann:hunter2@db/x does not answer")
    first, second = lines(log)
    shown = {key: first[key] for key in ("level", "message", "method", "path", "status")}
    assert shown == {
        "level": "INFO", "message": "request", "method": "GET", "path": "/bisect_0123456789abcdef_***", "status": 404,
    }  # fmt: skip
    assert second["message"] == "postgresql://ann:***@db/x does not answer"
    assert "hidden" not in log.getvalue()


def test_a_database_that_is_away(services: Services, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from bisect_tool.errors import StoreUnreachable

    def away(*_: object) -> None:
        raise StoreUnreachable("the database does not answer", where="postgresql://db/x", advice="wait")

    monkeypatch.setattr(type(services.database), "read", away)
    told = client.get(QUESTIONS)
    assert (told.status_code, told.headers["retry-after"], told.json()["exit_status"]) == (503, "5", 29)
    assert "db/x" not in told.text
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (503, {"status": "failing", "failing": ["database"]})
    assert client.get("/healthz").status_code == 200


def test_metrics(client: TestClient) -> None:
    asked = client.post(QUESTIONS, json=handed_in()).json()["question"]["id"]
    client.get(f"{QUESTIONS}/{asked}")
    client.get("/nowhere")
    client.request("BREW", "/healthz")
    found = client.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    text = found.text
    for line in (
        'bisect_http_requests_total{method="POST",route="/api/v1/questions",status="201"} 1.0',
        'bisect_http_requests_total{method="GET",route="/api/v1/questions/{question}",status="200"} 1.0',
        'bisect_http_requests_total{method="GET",route="none",status="404"} 1.0',
        'bisect_questions{state="queued"} 1.0',
        'bisect_jobs{state="waiting"} 1.0',
        'bisect_jobs{state="running"} 0.0',
        "bisect_workers 0.0",
        "bisect_event_streams 0.0",
    ):
        assert line in text.splitlines()
    assert 'method="other"' in text


def test_addresses_are_counted_by_their_route_alone(client: TestClient) -> None:
    for path in (f"{QUESTIONS}/{NOBODY}/report.strange1", f"/q/{NOBODY}/trials/case/a/b/case", "/strange2"):
        assert client.get(path).status_code in {401, 404, 422}
    counted = client.get("/metrics").text
    assert 'route="/api/v1/questions/{question}/report.{format}"' in counted
    assert "strange" not in counted
    assert "/case/a/b" not in counted


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Authorization": "Basic YTpi"},
        {"Sec-Fetch-Site": "cross-site", "Authorization": "Basic YTpi"},
        {"Origin": "http://["},
        {"Origin": "null"},
    ],
)
def test_what_another_site_has_a_browser_send(client: TestClient, headers: dict[str, str]) -> None:
    told = client.post(QUESTIONS, json=handed_in(0), headers=headers)
    assert (told.status_code, told.json()["detail"]) == (403, "the request comes from another web site")
    assert {name: told.headers[name] for name in HEADERS} == HEADERS
