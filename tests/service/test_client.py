"""The client of a server: patient with what passes, plain about what does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bisect_tool.errors import ServerRefused, ServerUnreachable, SpecError
from bisect_tool.reports import events
from bisect_tool.service.client import PAUSES, Client, lines_of
from bisect_tool.service.event_reading import kinds, read_event
from bisect_tool.service.handing_over import parcel_of
from bisect_tool.service.watching import show
from bisect_tool.spec.reading import load_all
from tests.rig.scripted_service import Said, Scripted, problem, said, scripted_service

QUESTION = "q0123456789abcdef0123"


def client_of(server: Scripted, token: str | None = None) -> tuple[Client, list[float]]:
    pauses: list[float] = []
    return Client(server.address, token, sleep=pauses.append), pauses


def event(number: int, kind: str = "notice", **body: object) -> bytes:
    data = json.dumps({"id": number, "job": 1, "at": 0.0, "kind": kind, "body": body})
    return f"id: {number}\ndata: {data}\n\n".encode()


END = b'event: end\ndata: {"state": "answered"}\n\n'
STOPPING = b"event: stopping\ndata: {}\n\n"


def test_what_is_sent() -> None:
    with scripted_service([said({"is_new": True})]) as server:
        client, _ = client_of(server, "bisect_1_secret")
        assert client.submit("name: x", [("a/b.py", b"\xff")], "a test") == {"is_new": True}
    (method, path, headers, body) = server.asked[0]
    assert (method, path, headers["Authorization"]) == ("POST", "/api/v1/questions", "Bearer bisect_1_secret")
    assert body == {"spec": "name: x", "files": [{"path": "a/b.py", "base64": "/w=="}], "source": "a test"}
    assert "secret" not in repr(client)


def test_a_stream_goes_on_where_it_broke() -> None:
    answers = [
        Said(pieces=(b": bisect\nretry: 2000\n\n", event(1)[:20]), breaks=True),
        Said(pieces=(event(1), b": ping\n\n" + event(2), event(3)[:30]), breaks=True),
        problem(503, "the database is away"),
        Said(pieces=(event(3), STOPPING)),
        Said(pieces=(END,)),
    ]
    with scripted_service(answers) as server:
        client, pauses = client_of(server)
        told = [(one.id, one.kind) for one in client.events(QUESTION)]
    assert told == [(1, "notice"), (2, "notice"), (3, "notice"), (0, "stopping"), (0, "end")]
    assert [headers["Last-Event-ID"] for _, _, headers, _ in server.asked] == ["0", "0", "2", "2", "3"]
    assert pauses == [1.0, 1.0, 2.0, 1.0]
    assert {path for _, path, _, _ in server.asked} == {f"/api/v1/questions/{QUESTION}/events?until_end=true"}


def test_a_server_that_stays_away() -> None:
    with scripted_service([]) as server:
        client, pauses = client_of(server)
        with pytest.raises(ServerUnreachable, match="does not answer as it should"):
            list(client.events(QUESTION))
        assert pauses == [*PAUSES]
        pauses.clear()
        with pytest.raises(ServerUnreachable):
            client.question(QUESTION)
        assert pauses == [*PAUSES]


def test_too_many_requests_are_made_later() -> None:
    answers = [problem(429, "too many", Retry_After="7"), problem(503, "away"), said({"id": QUESTION})]
    with scripted_service(answers) as server:
        client, pauses = client_of(server)
        assert client.question(QUESTION) == {"id": QUESTION}
    assert pauses == [7.0, PAUSES[1]]


def test_errors_of_the_server_are_errors_of_the_program() -> None:
    answers = [
        problem(422, "1 mistake", exit_status=10, where="spec.yaml", mistakes=["line 1: odd"]),
        problem(401, "this needs a token"),
        problem(404, "no report"),
        Said(200, (b"<html>",)),
        Said(302, headers=(("Location", "http://elsewhere.example/"),)),
    ]
    with scripted_service(answers) as server:
        client, _ = client_of(server)
        with pytest.raises(SpecError, match="line 1: odd"):
            client.submit("x", [])
        with pytest.raises(ServerRefused, match="this needs a token"):
            client.question(QUESTION)
        assert client.report(QUESTION) is None
        with pytest.raises(ServerUnreachable, match="not that of a server of bisect"):
            client.question(QUESTION)
        with pytest.raises(ServerUnreachable, match="not that of a server of bisect"):  # a token follows no redirect
            client.question(QUESTION)


def test_lines_end_wherever_a_piece_ends() -> None:
    def pieces(text: bytes, size: int) -> Iterator[bytes]:
        yield from (text[start : start + size] for start in range(0, len(text), size))

    text = b"event: a\r\ndata: b\r\n\r\ndata: c\n\n: rest"
    expected = [b"event: a", b"data: b", b"", b"data: c", b""]
    assert {tuple(lines_of(pieces(text, size))) for size in range(1, 40)} == {tuple(expected)}


def test_events_come_back_as_they_were() -> None:
    assert kinds()["run_started"] is events.RunStarted
    body = {"spec": "s", "package": "p", "builds": ["1"], "cases": [["a", "test"]], "device": "cpu", "steps_left": 1}
    assert read_event("run_started", body) == events.RunStarted("s", "p", ("1",), (("a", "test"),), "cpu", 1)
    assert read_event("run_started", {**body, "added_later": 1}) == read_event("run_started", body)
    assert read_event("of_a_newer_server", {}) is None
    assert read_event("notice", {}) is None


def test_what_only_the_service_tells_becomes_a_line() -> None:
    from bisect_tool.service.client import Told

    seen: list[object] = []
    for kind in ("job_queued", "job_started", "job_ended", "stopping", "end", "unknown"):
        show(Told(1, kind, {}), seen.append)
    assert [type(one) for one in seen] == [events.Notice] * 3


def test_what_is_handed_over(tmp_path: Path) -> None:
    (tmp_path / "repro.py").write_text("import toy\n")
    text = "# mine\nname: x\npackage: toy\nchannel: release\nscript: repro.py\n"
    (tmp_path / "spec.yaml").write_text(text)

    def parcel(path: Path, **changes: object) -> tuple[str, tuple[tuple[str, bytes], ...]]:
        (read,) = load_all([path], channels=("release",), changes=changes)
        made = parcel_of(read, is_changed=bool(changes))
        return made.spec, made.files

    assert parcel(tmp_path / "spec.yaml") == (text, (("repro.py", b"import toy\n"),))
    changed, files = parcel(tmp_path / "spec.yaml", to="1.5")
    assert (changed.splitlines(), files) == (
        ["name: x", "package: toy", "to: '1.5'", "script: repro.py"], (("repro.py", b"import toy\n"),),
    )  # fmt: skip
    script, _ = parcel(tmp_path / "repro.py", package="toy")
    assert script.splitlines() == ["name: repro", "package: toy", "script: repro.py"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Said(301, (b"",), (("Location", "https://elsewhere.example/"),)), "status 301"),
        (Said(200, (b"<h1>Sign in</h1>",), (("Content-Type", "text/html"),)), "text/html, no stream"),
    ],
)
def test_what_is_no_stream_of_events_is_not_asked_for_ever(answer: Said, why: str) -> None:
    with scripted_service([answer] * 20) as server:
        client, pauses = client_of(server)
        with pytest.raises(ServerUnreachable, match=why):
            list(client.events(QUESTION))
        assert pauses == [*PAUSES]
