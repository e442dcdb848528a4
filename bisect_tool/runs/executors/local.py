"""The slots of this machine: one thread each, whose work is to wait for processes."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from bisect_tool.builds.build import Installation
from bisect_tool.environments import room
from bisect_tool.environments.environment import BuildUnusable, Environment, Environments, Step
from bisect_tool.errors import MachineFault
from bisect_tool.runs.executors import (
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
)
from bisect_tool.runs.executors.slotted.first import First
from bisect_tool.runs.executors.slotted.holding import hold
from bisect_tool.runs.executors.slotted.threads import SlotThreads
from bisect_tool.runs.gpu_watch import GpuWatch, Shared
from bisect_tool.runs.gpus import GpuLost
from bisect_tool.stopping import Stop
from bisect_tool.trials.trial import FinishedTrial, run_trial

if TYPE_CHECKING:
    from bisect_tool.runs.executors.choosing import Opening
    from bisect_tool.runs.session import Session
    from bisect_tool.runs.slots import Slots
    from bisect_tool.runs.surveying import Means

SPARE = 2_000_000_000  # bytes of the disk that making ahead leaves free
NICENESS = 10  # of what is made ahead: a trial that runs beside it comes first


@dataclass(frozen=True, slots=True)
class Slot:
    """One place for a trial. `variables` point its processes to its device; `watch` looks after that."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    watch: GpuWatch | None = None


class LocalExecutor(SlotThreads):
    """Threads that open environments and run trials. `environ` is what trials may inherit of; `clock` gives seconds."""

    makers = 2

    def __init__(
        self,
        slots: Sequence[Slot],
        environments: Environments,
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__([slot.name for slot in slots], clock)
        self._places = tuple(slots)
        self._environments = environments
        self._environ = environ
        # Channels keep pages and sessions: one question at a time.
        self._channels = threading.Lock()
        self._first = First(has_one=any(environments.cache.environments.iterdir()))

    @property
    def regrows(self) -> bool:
        """This machine gets no new devices."""
        return False

    def prefers(self, slot: int, digest: str) -> bool:  # noqa: ARG002  as in every executor
        """All slots are on this machine, and so are its environments."""
        return False

    def retire(self, slot: int) -> None:
        """A slot that has no job needs nothing."""

    def do(self, slot: int, job: Job, stop: Stop, tell: Callable[[News], None]) -> Result:
        """Do a job of a slot."""
        match job:
            case OpenEnvironment():
                return self._open(self._places[slot], job, stop, tell)
            case HoldLock():
                return hold(job, tell, stop)
            case RunTrial():
                return RanTrial(self._run(self._places[slot], job, stop, tell))
            case _:
                assert_never(job)

    def _open(self, slot: Slot, job: OpenEnvironment, stop: Stop, tell: Callable[[News], None]) -> Opened:
        environments = replace(self._environments.stopped_by(stop), environ={**self._environ, **slot.variables})
        stack = ExitStack()
        try:
            with self._first.after(stop, tell):
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
            return finished if slot.watch is None else beside(finished, slot.watch.end())
        except GpuLost as lost:
            raise SlotLost(str(lost)) from lost

    def begin_ahead(self) -> None:
        """What is made ahead gives way to trials."""
        # Of this thread, and so of every process that it starts (setpriority(2): on Linux of the thread).
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)

    def make_ahead(self, job: OpenEnvironment, size: int | None, stop: Stop, tell: Callable[[Step], None]) -> None:
        """Make an environment where there is room for it."""
        if not has_room(self._environments, (size or 0) * room.UNPACKED):
            raise NoRoom
        with self._using(self._environments.stopped_by(stop), job, tell):
            pass


@dataclass(slots=True)
class LocalPlace:
    """This machine, with its GPUs or as many slots as were asked for."""

    opening: Opening
    slots: Slots | None = None

    def means(self, means: Means) -> Means:
        """The devices of this machine are what is looked for anyway."""
        return means

    def environments(self, own: Environments) -> Environments:
        """Trials run in those of this machine."""
        return own

    def open(self, sessions: Sequence[Session]) -> LocalExecutor:
        """Slots for these sessions."""
        from bisect_tool.runs.slots import open_slots

        opening = self.opening
        wait, jobs = opening.settings.wait_for_gpu, opening.settings.jobs
        self.slots = open_slots(sessions, jobs, wait, opening.environ, opening.tell)
        return self._executor(sessions, self.slots)

    @property
    def beside(self) -> Callable[[Sequence[Session]], LocalExecutor]:
        """The same slots again, once they were opened."""
        return lambda sessions: self._executor(sessions, self.slots) if self.slots else self.open(sessions)

    def _executor(self, sessions: Sequence[Session], slots: Slots) -> LocalExecutor:
        return LocalExecutor(slots.slots, sessions[0].environments, self.opening.environ)

    def notes(self) -> tuple[str, ...]:
        """The reports describe this machine."""
        return ()

    def close(self) -> None:
        """Let go of the driver."""
        if self.slots is not None and self.slots.nvml is not None:
            self.slots.nvml.close()


def open_place(opening: Opening) -> LocalPlace:
    """This machine."""
    return LocalPlace(opening)


def has_room(environments: Environments, needed: int) -> bool:
    """Whether there is room beside what is needed at the same time, so that nothing must go for it; `needed` in bytes."""
    root, most = environments.cache.root, environments.max_cache
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


def beside(finished: FinishedTrial, shared: Shared) -> FinishedTrial:
    """The trial, with what others held of its card."""
    observation = replace(finished.observation, gpu_others=shared.others, gpu_total=shared.total)
    return replace(finished, observation=observation)
