"""The slots of this machine: one thread each, whose work is to wait for processes."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import assert_never

from bisect_tool.builds.build import Installation
from bisect_tool.environments import locks, room
from bisect_tool.environments.environment import BuildUnusable, Environment, Environments, Step
from bisect_tool.errors import MachineFault
from bisect_tool.runs.executors import (
    AheadEnded,
    AheadTold,
    Arrival,
    Ended,
    GpuNews,
    HoldLock,
    Job,
    News,
    NoRoom,
    Opened,
    OpenEnvironment,
    RanTrial,
    Result,
    RunTrial,
    SlotLost,
    Told,
    WaitingForFirst,
)
from bisect_tool.runs.executors.holding import hold
from bisect_tool.runs.gpu_watch import GpuWatch, Shared
from bisect_tool.runs.gpus import GpuLost
from bisect_tool.stopping import Stop
from bisect_tool.trials.trial import FinishedTrial, run_trial

SPARE = 2_000_000_000  # bytes of the disk that making ahead leaves free
NICENESS = 10  # of what is made ahead: a trial that runs beside it comes first
PATIENCE = 60.0  # seconds for the threads to end once everything was called off; their processes are killed at once


@dataclass(frozen=True, slots=True)
class Slot:
    """One place for a trial. `variables` point its processes to its device; `watch` looks after that."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    watch: GpuWatch | None = None


@dataclass(slots=True)
class _Worker:
    """The thread of a slot, and the job that it has."""

    slot: Slot
    jobs: SimpleQueue[tuple[Job, Stop] | None] = field(default_factory=SimpleQueue)
    stop: Stop = field(default_factory=Stop)
    thread: threading.Thread | None = None


@dataclass(slots=True)
class _Ahead:
    """Environments that are to be made ahead: the orders that were not called off, by digest."""

    orders: SimpleQueue[OpenEnvironment | None] = field(default_factory=SimpleQueue)
    stops: dict[str, tuple[Stop, int | None]] = field(default_factory=dict)
    thread: threading.Thread | None = None


class LocalExecutor:
    """Threads that open environments and run trials. `environ` is what trials may inherit of; `clock` gives seconds."""

    def __init__(
        self,
        slots: Sequence[Slot],
        environments: Environments,
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workers = [_Worker(slot) for slot in slots]
        self._environments = environments
        self._environ = environ
        self._clock = clock
        self._arrivals: SimpleQueue[Arrival] = SimpleQueue()
        self._ahead = _Ahead()
        # Channels keep pages and sessions: one question at a time.
        self._channels = threading.Lock()
        self._first = threading.Lock()
        self._has_one = any(environments.cache.environments.iterdir())

    @property
    def slots(self) -> Sequence[str]:
        """What people call each slot."""
        return tuple(worker.slot.name for worker in self._workers)

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
        if ahead.thread is None:
            ahead.thread = threading.Thread(target=self._make_ahead, name="ahead of need", daemon=True)
            ahead.thread.start()
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
        self._ahead.orders.put(None)
        deadline = self._clock() + PATIENCE
        for thread in (self._ahead.thread, *(worker.thread for worker in self._workers)):
            if thread is not None:
                thread.join(max(0.0, deadline - self._clock()))

    def _work(self, slot: int) -> None:
        worker = self._workers[slot]
        while (order := worker.jobs.get()) is not None:
            job, stop = order
            result: Result | BaseException
            try:
                stop.check()
                result = self._do(slot, job, stop)
            except BaseException as error:  # noqa: BLE001  whatever it is, the loop raises it again in its own thread
                result = error
            self._arrivals.put(Ended(slot, result, self._clock()))

    def _do(self, slot: int, job: Job, stop: Stop) -> Result:
        def tell(news: News) -> None:
            self._arrivals.put(Told(slot, news, self._clock()))

        match job:
            case OpenEnvironment():
                return self._open(self._workers[slot].slot, job, stop, tell)
            case HoldLock():
                return hold(job, tell, stop)
            case RunTrial():
                return RanTrial(self._run(self._workers[slot].slot, job, stop, tell))
            case _:
                assert_never(job)

    @contextmanager
    def _after_the_first(self, stop: Stop, tell: Callable[[News], None]) -> Iterator[None]:
        """Make the first environment of an empty cache alone: several at once would each fetch what all of them need."""
        is_first = not self._has_one and self._first.acquire(blocking=False)
        if not is_first and not self._has_one:
            tell(WaitingForFirst())
        while not is_first and not self._has_one:
            stop.check()
            is_first = self._first.acquire(timeout=locks.PATIENCE)
        try:
            yield
            self._has_one = True
        finally:
            if is_first:
                self._first.release()

    def _open(self, slot: Slot, job: OpenEnvironment, stop: Stop, tell: Callable[[News], None]) -> Opened:
        environments = replace(self._environments.stopped_by(stop), environ={**self._environ, **slot.variables})
        stack = ExitStack()
        try:
            with self._after_the_first(stop, tell):
                return Opened(stack.enter_context(self._using(environments, job, tell)), stack)
        except (BuildUnusable, MachineFault):
            _check(slot)  # a health check on a card that is lost says nothing about the build
            raise

    def _using(
        self, environments: Environments, job: OpenEnvironment, tell: Callable[[Step], None]
    ) -> AbstractContextManager[Environment]:
        def install() -> Installation:
            with self._channels:
                return job.install()

        return environments.use(job.key, install, device=job.device, as_of=job.as_of, tell=tell)

    def _run(self, slot: Slot, job: RunTrial, stop: Stop, tell: Callable[[News], None]) -> FinishedTrial:
        environ = {**self._environ, **slot.variables}
        try:
            if slot.watch is not None:
                slot.watch.begin(stop.sleep, lambda text: tell(GpuNews(text)))
            programs, folder = job.environment.programs, job.folder
            finished = run_trial(
                job.order, programs=programs, folder=folder, environ=environ, ahead=job.forking, stop=stop
            )
            return finished if slot.watch is None else _beside(finished, slot.watch.end())
        except GpuLost as lost:
            raise SlotLost(str(lost)) from lost

    def _make_ahead(self) -> None:
        # Of this thread, and so of every process that it starts (setpriority(2): on Linux of the thread).
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
        while (job := self._ahead.orders.get()) is not None:
            digest, started = job.key.digest, self._clock()
            error: BaseException | None = None
            stop, size = self._ahead.stops[digest]
            try:
                stop.check()
                self._prepare(job, size, stop)
            except BaseException as raised:  # noqa: BLE001  likewise
                error = raised
            ended = self._clock()
            self._arrivals.put(AheadEnded(digest, error, ended - started, ended))

    def _prepare(self, job: OpenEnvironment, size: int | None, stop: Stop) -> None:
        def tell(step: Step) -> None:
            self._arrivals.put(AheadTold(job.key.digest, step, self._clock()))

        if not self._has_room((size or 0) * room.UNPACKED):
            raise NoRoom
        with self._using(self._environments.stopped_by(stop), job, tell):
            pass

    def _has_room(self, needed: int) -> bool:
        """Whether there is room beside what is needed at the same time, so that nothing must go for it."""
        root, most = self._environments.cache.root, self._environments.max_cache
        if shutil.disk_usage(root).free < 2 * needed + SPARE:
            return False
        return most is None or room.size_of(root) + 2 * needed <= most


def _check(slot: Slot) -> None:
    """Raises `SlotLost` when the device of the slot is lost."""
    try:
        if slot.watch is not None:
            slot.watch.end()
    except GpuLost as lost:
        raise SlotLost(str(lost)) from lost


def _beside(finished: FinishedTrial, shared: Shared) -> FinishedTrial:
    """The trial, with what others held of its card."""
    observation = replace(finished.observation, gpu_others=shared.others, gpu_total=shared.total)
    return replace(finished, observation=observation)
