"""Events over HTTP: nothing is missed, one poller serves all, streams end when they should."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from fastapi.testclient import TestClient

from bisect_tool.service.api.streams import end_of
from bisect_tool.service.event_log import EventLog, StoredEvent
from bisect_tool.service.feed import MOST_WAITING, Closing, Feed
from bisect_tool.service.problems import Refused
from bisect_tool.service.question import Asker, Purpose
from bisect_tool.service.services import Services
from tests.reports import samples
from tests.rig.answered import answered
from tests.rig.asked import another, submission


def told(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream: name (empty for usual ones) and data."""
    found = []
    for piece in text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in piece.splitlines() if ": " in line)
        if "data" in fields:
            found.append((fields.get("event", ""), json.loads(fields["data"])))
    return found


def test_the_stream_of_a_question_that_has_ended(client: TestClient, services: Services) -> None:
    question = answered(services, submission(), samples.exact())
    answer = client.get(f"/api/v1/questions/{question}/events", params={"until_end": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = told(answer.text)
    assert [data["kind"] for name, data in found if not name] == ["job_queued", "job_started", "job_ended"]
    assert found[-1] == ("end", {"state": "answered"})
    last = found[0][1]["id"]
    for how in ({"headers": {"Last-Event-ID": str(last)}}, {"params": {"after": last}}):
        path = f"/api/v1/questions/{question}/events?until_end=true"
        again = client.get(f"{path}&after={last}") if "params" in how else client.get(path, headers=how["headers"])
        assert [data["kind"] for name, data in told(again.text) if not name] == ["job_started", "job_ended"]


@pytest.mark.parametrize(
    ("purpose", "end"), [(Purpose.WATCH, "answered"), (Purpose.VERIFY, "answered"), (Purpose.ANSWER, None)]
)
def test_only_work_on_the_answer_is_waited_for(services: Services, purpose: Purpose, end: str | None) -> None:
    question = answered(services, submission(), samples.exact())
    services.queue.add(question, purpose, Asker(), lane="cuda:a card that no worker has")
    assert end_of(services, question) == end


def test_no_further_stream() -> None:
    log = _Log()
    with pytest.raises(Refused, match="no further stream"):
        Feed(log, most=0).check_room("ann")
    feed = Feed(log, most_each=1)
    with feed.watched_by("ann"):
        with pytest.raises(Refused, match="too many streams: at most 1"):
            feed.check_room("ann")
        feed.check_room("bob")
    feed.check_room("ann")
    feed.close()
    with pytest.raises(Refused, match="no further stream"):
        feed.check_room("ann")


class _Log(EventLog):
    """A log in memory that counts what it is asked."""

    kept: list[StoredEvent]
    asked: Counter[str | None]

    def __init__(self) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        object.__setattr__(self, "kept", [])
        object.__setattr__(self, "asked", Counter())

    def put(self, question: str, *kinds: str) -> None:
        first = len(self.kept) + 1
        self.kept.extend(StoredEvent(first + number, question, 1, 0.0, kind, {}) for number, kind in enumerate(kinds))

    def after(self, last: int, question: str | None = None, most: int = 500) -> list[StoredEvent]:
        self.asked[question] += 1
        return [one for one in self.kept if one.id > last and question in {None, one.question}][:most]

    def newest(self) -> int:
        return len(self.kept)


async def take(stream: Any, count: int) -> list[str]:
    """So many events; None where the stream has caught up does not count."""
    found: list[str] = []
    while len(found) < count:
        event = await anext(stream)
        if event is not None:
            found.append(event.kind)
    return found


def test_one_poller_serves_all_streams() -> None:
    log = _Log()

    async def watch() -> None:
        feed = Feed(log, pause=0.0)
        log.put("a", "old")
        streams = [feed.events_of("a", 0) for _ in range(200)]
        assert await asyncio.gather(*(take(stream, 1) for stream in streams)) == [["old"]] * 200
        assert feed.open_streams == 200
        before = log.asked[None]
        waiting = asyncio.gather(*(take(stream, 3) for stream in streams))
        await asyncio.sleep(0)
        log.put("b", "of another question")
        log.put("a", "x", "y", "z")
        assert await waiting == [["x", "y", "z"]] * 200
        assert log.asked["a"] <= 400  # each stream reads what was before, and nothing more
        assert log.asked[None] - before < 200
        feed.close()
        for stream in streams:
            with pytest.raises(Closing):
                await take(stream, 1)
        assert feed.open_streams == 0

    asyncio.run(watch())


def test_a_slow_client_misses_nothing() -> None:
    log = _Log()

    async def watch() -> None:
        feed = Feed(log, pause=0.0)
        stream = feed.events_of("a", 0)
        assert await anext(stream) is None
        count = 3 * MOST_WAITING
        log.put("a", *map(str, range(count)))
        for _ in range(50):  # while the poller hands on more than is kept for a stream
            await asyncio.sleep(0.001)
        assert await take(stream, count) == [*map(str, range(count))]
        log.put("a", "more")
        assert await take(stream, 1) == ["more"]
        await stream.aclose()

    asyncio.run(watch())


def test_the_log_may_be_away_for_a_while() -> None:
    log = _Log()

    async def watch() -> None:
        failed = asyncio.Event()
        feed = Feed(log, lambda _error: failed.set(), pause=0.0)
        stream = feed.events_of("a", 0)
        assert await anext(stream) is None
        log.__dict__["after"] = None
        waiting = asyncio.ensure_future(take(stream, 1))
        await failed.wait()
        del log.__dict__["after"]
        log.put("a", "back")
        assert await waiting == ["back"]
        await stream.aclose()

    asyncio.run(watch())


def test_work_that_goes_on_does_not_end_a_stream(services: Services) -> None:
    question = answered(services, another(0), samples.exact())
    assert end_of(services, question) == "answered"
    services.questions.retry(question, Asker(), fresh=True)
    assert end_of(services, question) is None
    services.questions.cancel(question)
    assert end_of(services, question) is not None
