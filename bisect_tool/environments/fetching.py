"""Fetching one file: in parts, by as many streams as it takes to fill the wire, going on where an earlier attempt stopped.

Parts of different contents are never put together: every answer must carry the ETag (or time of change) and the size of the
first one, and is asked for under that condition (`If-Range`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bisect_tool.environments.answers import (
    NO_SUCH_PART,
    PART,
    Again,
    FetchFault,
    again_or_not,
    begin_of,
    check_status,
    pause_after,
    size_in,
    validator_in,
)
from bisect_tool.environments.growth import Growth
from bisect_tool.environments.partial_file import Content, PartialFile
from bisect_tool.environments.pieces import Claim
from bisect_tool.environments.room import FULL
from bisect_tool.environments.throttle import Throttle

if TYPE_CHECKING:
    import requests

BLOCK = 128 << 10
STREAMS = 4


@dataclass(frozen=True, slots=True)
class Source:
    """Where a file is fetched from. `size` is what it must have, `sha256` is for whoever judges it; None: not known.

    `open` gives a new session; `shown` is the address for people. `retries` bounds attempts that bring nothing, one after
    the other; `timeouts` are for the connection and for each read, in seconds; `backoff` is the first pause.
    """

    address: str = field(repr=False)
    shown: str
    open: Callable[[], requests.Session] = field(repr=False)
    size: int | None = None
    sha256: str | None = None
    retries: int = 5
    timeouts: tuple[float, float] = (10.0, 30.0)
    backoff: float = 0.5


@dataclass(slots=True)
class Fetch:
    """A download into `file`; it begins with `start`, and stops with `close`. `arrived` hears of every block.

    `is_ranged` is whether the server gives parts; None as long as it has not answered. `fetched` counts bytes that came in.
    """

    source: Source
    file: PartialFile
    throttle: Throttle | None = None
    growth: Growth = field(default_factory=lambda: Growth(STREAMS))
    arrived: Callable[[int, int], None] = lambda _here, _size: None
    is_ranged: bool | None = None
    fault: FetchFault | None = None
    fetched: int = 0
    _news: threading.Condition = field(default_factory=threading.Condition, repr=False)
    _closing: threading.Event = field(default_factory=threading.Event, repr=False)
    _workers: list[threading.Thread] = field(default_factory=list, repr=False)
    _active: int = 0
    _is_known: bool = False

    def start(self) -> None:
        """Begin; where all of the file is here, nobody is asked. Does nothing when it has begun."""
        with self._news:
            if self._workers or self._is_known or self.fault:
                return
            if self.file.is_complete:
                self._is_known, self.is_ranged = True, True
                return
            self._spawn()

    def close(self) -> None:
        """Stop; what is here stays. A stream that hears nothing ends by its timeout and writes nothing any more."""
        self._closing.set()
        with self._news:
            self._news.notify_all()
            workers = list(self._workers)
        for worker in workers:
            worker.join(1.0)
        self.file.close()

    def size(self) -> int:
        """The size of the file; waits for the first answer. Raises `FetchFault`."""
        self.start()
        with self._news:
            while not self._is_known:
                self._wait()
            return self.file.pieces.size

    def read(self, start: int, stop: int) -> Iterator[bytes]:
        """The bytes from `start` to `stop`, as they arrive. Raises `FetchFault`, `OSError`."""
        if self.is_ranged and start > self._frontier(0) + self.file.pieces.piece:
            self._fetch_apart(start, stop)
        while start < stop:
            with self._news:
                while (end := min(stop, self._frontier(start))) <= start:
                    self._wait()
            block = self.file.read(start, min(end, start + (1 << 20)))
            if not block or self._closing.is_set():
                raise self.fault or FetchFault("the download was stopped")
            start += len(block)
            yield block

    def _frontier(self, start: int) -> int:
        return self.file.pieces.frontier(start)

    def _wait(self) -> None:
        """Wait for news. Raises `FetchFault` when there will be none."""
        if self.fault is not None:
            raise self.fault
        if self._closing.is_set():
            raise FetchFault("the download was stopped")
        self._news.wait(1.0)

    def _spawn(self) -> None:
        self._active += 1
        worker = threading.Thread(target=self._work, name=f"fetch {self._active}", daemon=True)
        self._workers.append(worker)
        worker.start()

    def _work(self) -> None:
        """One stream: take what nobody fetches, until nothing is left."""
        try:
            with self.source.open() as session:
                self._stream(session)
        except FetchFault as fault:
            self._fail(fault)
        except OSError as error:
            reason = f"{self.source.shown} cannot be kept: {error.strerror or error}"
            self._fail(FetchFault(reason, is_full=error.errno in FULL))
        except BaseException as error:
            # Readers wait for this thread: they must hear of a defect of ours, too.
            self._fail(FetchFault(f"{self.source.shown}: {type(error).__name__}: {error}"))
            raise
        finally:
            with self._news:
                self._news.notify_all()

    def _fail(self, fault: FetchFault) -> None:
        with self._news:
            self.fault = self.fault or fault
        self._closing.set()

    def _stream(self, session: requests.Session) -> None:
        failures = 0
        while (claim := self._next_claim()) is not None:
            begun = claim.at
            try:
                self._fetch(session, claim)
                failures = 0
            except Again as again:
                failures = 0 if claim.at > begun else failures + 1
                if self._gives_way(again):
                    return  # others go on without it
                if failures > self.source.retries:
                    raise FetchFault(str(again)) from again
                self._closing.wait(pause_after(again, failures, self.source.backoff))
            finally:
                with self._news:
                    self.file.pieces.release(claim)

    def _next_claim(self) -> Claim | None:
        with self._news:
            if self._closing.is_set() or self._active > self.growth.streams:
                self._active -= 1
                return None
            if not self._is_known:
                # What an earlier process left counts once the server says that it is of the same content.
                first = self.file.pieces.frontier(0) if self.file.content else 0
                return Claim(first, max(first + 1, self.file.pieces.size))
            claim = self.file.pieces.claim(alone=self.growth.streams == 1)
            self._active -= claim is None
            return claim

    def _gives_way(self, again: Again) -> bool:
        """Whether this stream ends because there are others; the last one never does."""
        with self._news:
            if again.is_too_much:
                self.growth.shrink()
            is_spare = self._active > 1
            self._active -= is_spare
            return is_spare

    def _fetch(self, session: requests.Session, claim: Claim) -> None:
        """Fetch a claim to its end. Raises `Again`, `FetchFault`, `OSError`."""
        import requests
        import urllib3

        try:
            with session.get(
                self.source.address, headers=self._headers(claim), timeout=self.source.timeouts, stream=True
            ) as answer:
                self._look_at(answer, claim)
                self._take(answer, claim)
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise again_or_not(error, self.source.shown) from error
        if not claim.is_served and not self._closing.is_set():
            raise Again(f"{self.source.shown} ended {claim.stop - claim.at} bytes too early")

    def _headers(self, claim: Claim) -> dict[str, str]:
        content, open_end = self.file.content, not self._is_known or claim.stop >= self.file.pieces.size
        headers = {"Accept-Encoding": "identity"}
        if self.is_ranged is not False or claim.at > 0:
            headers["Range"] = f"bytes={claim.at}-{'' if open_end else claim.stop - 1}"
        if content is not None and content.validator is not None and claim.at > 0:
            headers["If-Range"] = content.validator
        return headers

    def _look_at(self, answer: requests.Response, claim: Claim) -> None:
        """Whether the answer is of the content that was begun; the first one says what that is."""
        if answer.status_code == NO_SUCH_PART and self.file.content and not self._is_known:
            with self._news:
                self._check_open()
                self.file.remove()
            raise Again(f"{self.source.shown} is shorter than what was begun")
        check_status(answer, self.source.shown)
        is_part = answer.status_code == PART
        found = Content(size_in(answer, self.source.shown), validator_in(answer))
        if self.source.size is not None and found.size != self.source.size:
            raise FetchFault(f"{self.source.shown} has {found.size} bytes, the index says {self.source.size}")
        with self._news:
            self._check_open()
            if not self._is_known:
                self._begin(found, claim, is_part=is_part)
            elif found != self.file.content:
                raise FetchFault(f"{self.source.shown} was replaced while it was fetched")
            elif found.validator is None:
                raise FetchFault(
                    f"{self.source.shown} broke off, and the server does not say whether it is still the same"
                )
            if not is_part:  # everything from the beginning, whatever was asked for
                self.is_ranged, claim.at, claim.stop = False, 0, found.size
        if is_part and begin_of(answer) != claim.at:
            raise FetchFault(f"{self.source.shown}: the server gave another part than was asked for")

    def _check_open(self) -> None:
        """An answer that comes after the end must not touch the file, which may be that of the next attempt by now."""
        if self._closing.is_set():
            raise Again("the download was stopped")

    def _begin(self, found: Content, claim: Claim, *, is_part: bool) -> None:
        """Take up what the first answer is of."""
        self.file.begin(found)
        self.is_ranged, self._is_known = is_part and found.validator is not None, True
        # Up to what an earlier process left further on, such as the end of the archive.
        claim.stop = next((first for first, _ in self.file.pieces.here if first > claim.at), found.size)
        self.file.pieces.claims.append(claim)
        self._news.notify_all()

    def _take(self, answer: requests.Response, claim: Claim) -> None:
        while not claim.is_served and not self._closing.is_set():
            block = answer.raw.read(min(BLOCK, claim.stop - claim.at), decode_content=False)
            if not block:
                return
            if self.throttle is not None:
                self.throttle.take(len(block), self._closing.wait)
            if not self._closing.is_set():
                self._keep(claim, block)

    def _keep(self, claim: Claim, block: bytes) -> None:
        with self._news:
            block = block[: max(0, claim.stop - claim.at)]
            self.file.write(claim, block)
            self.fetched += len(block)
            self.growth.note(len(block), time.monotonic())
            self._grow()
            here, size = self.file.pieces.count, self.file.pieces.size
            self._news.notify_all()
        self.arrived(here, size)

    def _grow(self) -> None:
        left = self.file.pieces.size - self.file.pieces.count
        if self.is_ranged and self._active < self.growth.streams and left > 2 * self.file.pieces.piece:
            self.file.pieces.share()
            self._spawn()

    def _fetch_apart(self, start: int, stop: int) -> None:
        """Fetch what is read out of order, such as the end of an archive, without waiting for what lies before it.

        It is only a short cut: what goes wrong here is left to the streams.
        """
        with self._news:
            start = self._frontier(start)
            if start >= stop:
                return
        claim = Claim(start, stop)
        with suppress(Again, FetchFault), self.source.open() as session:
            self._fetch(session, claim)
