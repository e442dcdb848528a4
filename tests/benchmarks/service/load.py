"""A real server under load on loopback: bursts of submissions, and many open streams of events."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil
from sqlalchemy import func, select

from bisect_tool.service.event_log import EventLog
from bisect_tool.store.address import StoreAddress, file_address
from bisect_tool.store.results import Results, open_results
from bisect_tool.store.service_tables import jobs, questions
from tests.rig.asked import another
from tests.rig.server import Server, server

QUESTIONS = "/api/v1/questions"
UNLIMITED = ("--requests", "1000000/second", "--submissions", "1000000/second")


@dataclass(frozen=True, slots=True)
class Burst:
    """So many different questions, each handed in twice, by so many clients at once.

    `statuses` counts the answers, `kept` the questions and `jobs` the jobs that are in the database afterwards.
    """

    asked: int
    clients: int
    seconds: float
    statuses: Counter[int]
    ids: int
    kept: int
    jobs: int
    slowest: float

    @property
    def rate(self) -> float:
        """Submissions a second."""
        return 2 * self.asked / self.seconds


@dataclass(frozen=True, slots=True)
class Streams:
    """So many open streams; `bytes_each` is what each takes of the server's memory.

    `told` counts how many events each of them got of the `events` that came while they were open, `seconds` is how long it took
    from the first event until every stream had the last one.
    """

    count: int
    bytes_each: float
    events: int
    told: Counter[int]
    seconds: float


@dataclass(frozen=True, slots=True)
class Loaded:
    """A server without workers, and its database."""

    server: Server
    results: Results


@contextmanager
def loaded(folder: Path, store: StoreAddress | None = None) -> Iterator[Loaded]:
    """A server over a database of its own in `folder`, or over `store`."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("BISECT_")}
    environ |= {"BISECT_CACHE": str(folder / "cache"), "HOME": str(folder)}
    if store is not None:
        environ["BISECT_STORE"] = store.url.render_as_string(hide_password=False)
    command = [sys.executable, "-m", "bisect_tool", "serve", "--workers", "0", *UNLIMITED]
    with server(command, environ, folder) as started:
        place = store or file_address(folder / "cache" / "results.sqlite", is_own=False)
        with open_results(place, nullcontext) as results:
            yield Loaded(started, results)


def burst(place: Loaded, count: int, clients: int, first: int = 0) -> Burst:
    """Hand in `count` questions, each of them twice; those of another `first` are others."""
    bodies = [_body(number) for number in range(first, first + count)] * 2
    statuses: Counter[int] = Counter()
    ids: set[str] = set()
    slowest = 0.0

    async def hand_in(client: httpx2.AsyncClient, waiting: list[bytes]) -> None:
        nonlocal slowest
        while waiting:
            started = time.monotonic()
            told = await client.post(QUESTIONS, content=waiting.pop(), headers={"Content-Type": "application/json"})
            slowest = max(slowest, time.monotonic() - started)
            statuses[told.status_code] += 1
            ids.add(told.json()["question"]["id"])

    async def all_of_them() -> float:
        limits = httpx2.Limits(max_connections=clients)
        async with httpx2.AsyncClient(base_url=place.server.address, timeout=300, limits=limits) as client:
            started = time.monotonic()
            await asyncio.gather(*(hand_in(client, bodies) for _ in range(clients)))
            return time.monotonic() - started

    seconds = asyncio.run(all_of_them())
    kept, work = (_rows(place.results, table) for table in (questions, jobs))
    return Burst(count, clients, seconds, statuses, len(ids), kept, work, slowest)


def streams(place: Loaded, question: str, count: int, events: int) -> Streams:
    """Open `count` streams of a question, then let so many events happen."""
    process = psutil.Process(place.server.process.pid)
    log = EventLog(place.results.database)
    told: Counter[int] = Counter()

    async def listen(client: httpx2.AsyncClient, number: int, is_open: asyncio.Event) -> None:
        async with client.stream("GET", f"{QUESTIONS}/{question}/events") as stream:
            async for line in stream.aiter_lines():
                is_open.set()
                told[number] += '"kind": "notice"' in line
                if told[number] == events:
                    return

    async def all_of_them() -> tuple[float, float]:
        limits = httpx2.Limits(max_connections=count)
        async with httpx2.AsyncClient(base_url=place.server.address, timeout=300, limits=limits) as client:
            await client.get(f"{QUESTIONS}/{question}")
            before = process.memory_info().rss
            opened = [asyncio.Event() for _ in range(count)]
            tasks = [asyncio.create_task(listen(client, number, one)) for number, one in enumerate(opened)]
            await asyncio.gather(*(one.wait() for one in opened))
            grown = process.memory_info().rss - before
            started = time.monotonic()
            for number in range(events):
                await asyncio.to_thread(log.add, question, 1, [("notice", {"text": f"news {number}"})])
            await asyncio.gather(*tasks)
            return grown / count, time.monotonic() - started

    bytes_each, seconds = asyncio.run(all_of_them())
    return Streams(count, bytes_each, events, Counter(told.values()), seconds)


def _body(number: int) -> bytes:
    import json

    asked = another(number)
    files = [{"path": path, "text": content.decode()} for path, content in asked.files]
    return json.dumps({"spec": asked.spec, "files": files}).encode()


def _rows(results: Results, table: object) -> int:
    query = select(func.count()).select_from(table)  # type: ignore[arg-type]
    return results.database.read(lambda connection: connection.execute(query).scalar_one())
