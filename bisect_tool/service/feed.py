"""Events as they happen, for many streams: one poller reads the log of events for all of them."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool

from bisect_tool.service.event_log import EventLog, StoredEvent
from bisect_tool.service.problems import Refused

PAUSE = 0.5  # seconds between two looks at the log
MOST_STREAMS = 1000
MOST_STREAMS_EACH = 250  # of one token, or of one address without
MOST_WAITING = 500  # events for a stream whose client is slow; what is more it reads from the log again
PART = 500


class Closing(Exception):
    """The server stops."""


@dataclass(slots=True, eq=False)
class _Reader:
    """One stream: the events that it has not sent yet; `has_missed` when there were too many of them."""

    waiting: asyncio.Queue[StoredEvent | None] = field(default_factory=lambda: asyncio.Queue(MOST_WAITING))
    has_missed: bool = False

    def put(self, event: StoredEvent | None) -> None:
        if self.waiting.full():
            self.has_missed = True
        else:
            self.waiting.put_nowait(event)


@dataclass(slots=True)
class Feed:
    """The streams of one process. All of it runs in the thread of the server's loop.

    `failed` hears of an error of the poller, which goes on.
    """

    events: EventLog
    failed: Callable[[Exception], None] = lambda _error: None
    pause: float = PAUSE
    most: int = MOST_STREAMS
    most_each: int = MOST_STREAMS_EACH
    _readers: dict[str, set[_Reader]] = field(default_factory=lambda: defaultdict(set))
    _watching: Counter[str] = field(default_factory=Counter)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _poller: asyncio.Task[None] | None = None
    _last: int = 0
    is_closing: bool = False

    @property
    def open_streams(self) -> int:
        """How many streams there are now."""
        return sum(map(len, self._readers.values()))

    def check_room(self, who: str) -> None:
        """Raises `Refused`: 503 when this process serves as many streams as it can, or stops, 429 when `who` has too many."""
        later = {"Retry-After": "5"}
        if self.is_closing or self.open_streams >= self.most:
            raise Refused(503, "no further stream of events can be opened now", "try again", headers=later)
        if self._watching[who] >= self.most_each:
            raise Refused(429, f"too many streams: at most {self.most_each}", "close some of them", headers=later)

    @contextmanager
    def watched_by(self, who: str) -> Iterator[None]:
        """Count a stream of somebody, while the context lasts."""
        self._watching[who] += 1
        try:
            yield
        finally:
            self._watching[who] -= 1
            if not self._watching[who]:
                del self._watching[who]

    async def events_of(self, question: str, last: int) -> AsyncGenerator[StoredEvent | None, None]:
        """The events of a question after `last`, without an end; None each time that nothing more is stored.

        Raises `Closing` when the server stops.
        """
        reader = _Reader()
        try:
            await self._open(question, reader)
            while True:
                # From the log what was before, or what this stream was too slow for; then what comes in.
                reader.has_missed = False
                async for event in self._stored(question, last):
                    last = event.id
                    yield event
                yield None
                async for event in self._coming(reader):
                    if event.id > last:
                        last = event.id
                        yield event
        finally:
            self._readers[question].discard(reader)
            if not self._readers[question]:
                del self._readers[question]

    def close(self) -> None:
        """End every stream. To be called in the loop's thread."""
        self.is_closing = True
        for reader in [reader for readers in self._readers.values() for reader in readers]:
            reader.put(None)
        if self._poller is not None:
            self._poller.cancel()

    async def _open(self, question: str, reader: _Reader) -> None:
        if self.is_closing:
            raise Closing
        self._readers[question].add(reader)
        async with self._opening:
            if self._poller is None or self._poller.done():
                # Before this stream reads the log: what comes after this number, the poller hands on.
                self._last = await run_in_threadpool(self.events.newest)
                self._poller = asyncio.get_running_loop().create_task(self._poll())

    async def _stored(self, question: str, last: int) -> AsyncIterator[StoredEvent]:
        while True:
            part = await run_in_threadpool(self.events.after, last, question, PART)
            for event in part:
                if self.is_closing:
                    raise Closing
                yield event
                last = event.id
            if len(part) < PART:
                return

    async def _coming(self, reader: _Reader) -> AsyncIterator[StoredEvent]:
        """What comes in, until this stream has missed something."""
        while not (reader.has_missed and reader.waiting.empty()):
            event = await reader.waiting.get()
            if self.is_closing or event is None:
                raise Closing
            yield event

    async def _poll(self) -> None:
        """Hand on every new event, as long as there are streams."""
        while self._readers:
            try:
                await self._look()
            except Exception as error:  # noqa: BLE001  the database may be gone for a while: the streams stay open
                self.failed(error)
            await asyncio.sleep(self.pause)

    async def _look(self) -> None:
        while True:
            part = await run_in_threadpool(self.events.after, self._last, None, PART)
            for event in part:
                self._last = event.id
                for reader in self._readers.get(event.question, ()):
                    reader.put(event)
            if len(part) < PART:
                return
