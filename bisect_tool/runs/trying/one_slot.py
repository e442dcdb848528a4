"""The jobs of one service, one after the other, in the first slot of an executor: a loop without anything to decide."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Never

from bisect_tool.builds.build import Build
from bisect_tool.environments.uv import Download
from bisect_tool.errors import BisectError, MachineFault
from bisect_tool.reports import events
from bisect_tool.runs.allowance import Allowance
from bisect_tool.runs.executors import (
    Ended,
    Executor,
    GpuNews,
    Held,
    Job,
    Opened,
    RanTrial,
    Result,
    SlotFull,
    SlotLost,
    Told,
    WaitingForFirst,
    WaitingForLock,
)
from bisect_tool.runs.job_news import event_of
from bisect_tool.runs.serving import Doing, Service

SLOT = 0


@dataclass(slots=True)
class OneSlot:
    """Drives one service at a time to its end; `tell` hears what happens."""

    executor: Executor
    allowance: Allowance
    tell: Callable[[events.Event], None]

    def run(self, service: Service, doing: Doing, build: Build) -> None:
        """Do all jobs of `doing`, which are about `build`.

        Raises what the service raises, and a `BisectError` when the machine gets in the way. Whatever ends it early, a trial
        that had ended is stored and no process is left running; then the executor is of no more use.
        """
        result: Result | BaseException | None = None
        while True:
            try:
                job = doing.throw(result) if isinstance(result, BaseException) else _go_on(doing, result)
            except StopIteration:
                return
            except SlotFull as full:
                raise full.error from full
            except SlotLost as lost:
                self._lost(lost)
            try:
                self.executor.start(SLOT, job)
                result = self._result(service, build)
            except BaseException:
                self._wind_up(doing)
                raise

    def _result(self, service: Service, build: Build) -> Result | BaseException:
        """How the job that was started ends."""
        ended: Ended | None = None
        while ended is None:
            for arrival in self.executor.arrivals():
                match arrival:
                    case Told(news=news, at=at):
                        if not isinstance(news, WaitingForLock | WaitingForFirst | GpuNews):
                            list(service.work.take(news, at))  # counts the bytes
                        if isinstance(news, Download) and not news.done and not news.here:
                            self.allowance.announced(news.size)
                        self.tell(event_of(news, build, None, lock=service.waits_for))
                    case Ended():
                        ended = arrival
        return ended.result

    def _lost(self, lost: SlotLost) -> Never:
        raise MachineFault(
            f"the GPU is lost: {lost}",
            where=self.executor.slots[SLOT],
            advice="see what nvidia-smi and `dmesg | grep Xid` say, then run the same command again",
        ) from lost

    def _wind_up(self, doing: Doing) -> None:
        self.executor.close()
        for arrival in self.executor.arrivals(timeout=0):
            result = arrival.result if isinstance(arrival, Ended) else None
            if isinstance(result, Opened | Held):
                result.lease.close()
            elif isinstance(result, RanTrial):
                with suppress(StopIteration, BisectError):
                    doing.send(result)  # which stores it
        doing.close()


def _go_on(doing: Doing, result: Result | None) -> Job:
    return next(doing) if result is None else doing.send(result)
