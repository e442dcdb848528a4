"""One thread for each slot, whose work is to wait; and some for what is made ahead of need."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from bisect_tool.environments.environment import Checking, Step
from bisect_tool.runs.executors import (
    AheadEnded,
    AheadTold,
    Arrival,
    Ended,
    Job,
    News,
    OpenEnvironment,
    Result,
    Told,
)
from bisect_tool.stopping import Stop

PATIENCE = 60.0  # seconds for the threads to end once everything was called off; their processes are killed at once


@dataclass(slots=True)
class _Worker:
    """The thread of a slot, and the job that it has."""

    name: str
    jobs: SimpleQueue[tuple[Job, Stop] | None] = field(default_factory=SimpleQueue)
    stop: Stop = field(default_factory=Stop)
    thread: threading.Thread | None = None


@dataclass(slots=True)
class _Ahead:
    """Environments that are to be made ahead: the orders that were not called off, by digest."""

    orders: SimpleQueue[OpenEnvironment | None] = field(default_factory=SimpleQueue)
    stops: dict[str, tuple[Stop, int | None]] = field(default_factory=dict)
    wire: threading.Lock = field(default_factory=threading.Lock)
    threads: list[threading.Thread] = field(default_factory=list)


class SlotThreads(ABC):
    """All of an executor but the work itself: `do` and `make_ahead`, which are called in threads. `clock` gives seconds.

    Ahead of need one environment is fetched at a time. With more than one of the `makers` the next is fetched while the one
    before is proven, which needs no network.
    """

    makers = 1

    def __init__(self, names: Sequence[str] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._workers = [_Worker(name) for name in names]
        self._clock = clock
        self._arrivals: SimpleQueue[Arrival] = SimpleQueue()
        self._ahead = _Ahead()

    @abstractmethod
    def do(self, slot: int, job: Job, stop: Stop, tell: Callable[[News], None]) -> Result:
        """Do a job to its end; `tell` takes news of it. Raises what the job may end with, `Cancelled` once `stop` is set."""

    @abstractmethod
    def make_ahead(self, job: OpenEnvironment, size: int | None, stop: Stop, tell: Callable[[Step], None]) -> None:
        """Make an environment ahead of need. Raises what `AheadEnded` may carry."""

    def begin_ahead(self) -> None:  # noqa: B027  there need be nothing
        """Called once in each of the threads that make environments ahead."""

    @property
    def slots(self) -> Sequence[str]:
        """What people call each slot."""
        return tuple(worker.name for worker in self._workers)

    def add_slot(self, name: str) -> None:
        """One more slot, at the end."""
        self._workers.append(_Worker(name))

    def start(self, slot: int, job: Job) -> None:
        """Begin a job in a slot that has none."""
        worker = self._workers[slot]
        if worker.thread is None:
            worker.thread = threading.Thread(target=self._work, args=(slot,), name=f"slot {slot}", daemon=True)
            worker.thread.start()
        worker.stop = Stop()
        worker.jobs.put((job, worker.stop))

    def cancel(self, slot: int) -> None:
        """Call the job of a slot off."""
        self._workers[slot].stop.set()

    def arrivals(self, timeout: float | None = None) -> list[Arrival]:
        """What has happened since the last call; waits for something to happen, at most `timeout` seconds."""
        found: list[Arrival] = []
        try:
            found.append(self._arrivals.get(timeout=timeout))
            while True:
                found.append(self._arrivals.get_nowait())
        except Empty:
            return found

    def prepare(self, job: OpenEnvironment, size: int | None) -> None:
        """Make an environment ahead of need, in the background."""
        ahead = self._ahead
        if not ahead.threads:
            ahead.threads += [
                threading.Thread(target=self._work_ahead, name=f"ahead of need {number}", daemon=True)
                for number in range(self.makers)
            ]
            for thread in ahead.threads:
                thread.start()
        ahead.stops[job.key.digest] = (Stop(), size)
        ahead.orders.put(job)

    def drop(self, digest: str) -> None:
        """Call an environment off that is being made ahead, or is to be."""
        if digest in self._ahead.stops:
            self._ahead.stops[digest][0].set()

    def close(self) -> None:
        """Call everything off, and wait until nothing of it is left."""
        for worker in self._workers:
            worker.stop.set()
            worker.jobs.put(None)
        for stop, _ in list(self._ahead.stops.values()):
            stop.set()
        for _ in self._ahead.threads:
            self._ahead.orders.put(None)
        deadline = self._clock() + PATIENCE
        for thread in (*self._ahead.threads, *(worker.thread for worker in self._workers)):
            if thread is not None:
                thread.join(max(0.0, deadline - self._clock()))

    def _work(self, slot: int) -> None:
        worker = self._workers[slot]

        def tell(news: News) -> None:
            self._arrivals.put(Told(slot, news, self._clock()))

        while (order := worker.jobs.get()) is not None:
            job, stop = order
            result: Result | BaseException
            try:
                stop.check()
                result = self.do(slot, job, stop, tell)
            except BaseException as error:  # noqa: BLE001  whatever it is, the loop raises it again in its own thread
                result = error
            self._arrivals.put(Ended(slot, result, self._clock()))

    def _work_ahead(self) -> None:
        self.begin_ahead()
        while True:
            # Orders are taken by whoever has the wire, so that they are fetched in their order.
            with self._at_the_wire() as leave:
                job = self._ahead.orders.get()
                if job is None:
                    return
                self._make_one_ahead(job, leave)

    @contextmanager
    def _at_the_wire(self) -> Iterator[Callable[[], None]]:
        """Hold the wire against other environments that are made ahead, at most until what it gives is called."""
        held = ExitStack()
        held.enter_context(self._ahead.wire)
        with held:
            yield held.close

    def _make_one_ahead(self, job: OpenEnvironment, leave: Callable[[], None]) -> None:
        digest, started = job.key.digest, self._clock()
        error: BaseException | None = None
        stop, size = self._ahead.stops[digest]
        try:
            stop.check()
            self.make_ahead(job, size, stop, self._teller_ahead(digest, leave))
        except BaseException as raised:  # noqa: BLE001  likewise
            error = raised
        ended = self._clock()
        self._arrivals.put(AheadEnded(digest, error, ended - started, ended))

    def _teller_ahead(self, digest: str, leave: Callable[[], None]) -> Callable[[Step], None]:
        def tell(step: Step) -> None:
            if isinstance(step, Checking):  # all of it is here
                leave()
            self._arrivals.put(AheadTold(digest, step, self._clock()))

        return tell
