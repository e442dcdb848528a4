"""A worker: takes a job, has a child answer it, passes on what the child says and whether it is to stop, and ends the job."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bisect_tool.errors import BisectError, Interrupted, MachineFault
from bisect_tool.history.source import token_in
from bisect_tool.runs.workshop import Workshop
from bisect_tool.service.child import Child, child_of
from bisect_tool.service.lanes import device_of, own_lane
from bisect_tool.service.news import END, News, Thinner
from bisect_tool.service.order import Order, for_libraries
from bisect_tool.service.private_folders import private_folder, remove_abandoned
from bisect_tool.service.question import fault_values
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import JobLost, Queue, Taken
from bisect_tool.service.reviews import narrow_for
from bisect_tool.service.submissions import lay_out
from bisect_tool.service.workers import Workers, WorkerState
from bisect_tool.stopping import Cancelled, Stop

AGAIN = 1.0  # seconds until an idle worker looks again
LOOK = 0.5  # seconds for which events are gathered
BEATS = 6  # in the span of a lease
_TROUBLE = 10.0  # seconds until a worker goes on that could not reach the database


@dataclass
class Worker:
    """Works on jobs of its `lanes`, one at a time; `tell` takes lines for the log.

    `waits`: when it is to stop, it finishes the job that it has; else that job is given back, and goes on elsewhere.
    """

    workshop: Workshop
    queue: Queue
    lanes: Sequence[str]
    waits: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    tell: Callable[[str], None] = lambda _line: None
    id: str = field(init=False, default="")

    def work(self, stop: Stop, *, until_idle: bool = False) -> int:
        """Work until `stop` is set, or with `until_idle` until nothing is left to take; gives the number of jobs.

        A database that does not answer is asked again and again. Raises `BisectError` when it cannot even be begun.
        """
        remove_abandoned(self.workshop.cache)
        workers, done = Workers(self.queue.database, self.queue.span), 0
        self.id = workers.sign_on(self.lanes)
        beat = time.monotonic()
        while not stop.is_set:
            try:
                if (taken := self.queue.take(self.id, self.lanes)) is not None:
                    workers.tell(self.id, WorkerState.BUSY, taken.job.question)
                    self._work_on(taken, stop, workers)
                    workers.tell(self.id, WorkerState.IDLE, done=1)
                    beat, done = time.monotonic(), done + 1
                    continue
                if time.monotonic() - beat > self.queue.span / BEATS:
                    workers.tell(self.id, WorkerState.IDLE)
                    beat = time.monotonic()
            except BisectError as error:
                self.tell(f"worker {self.id}: {error}")
                self._rest(stop, _TROUBLE)
                continue
            if until_idle:
                break
            self._rest(stop, AGAIN)
        with suppress(BisectError):  # it would be found out anyway, after its span
            workers.tell(self.id, WorkerState.GONE)
        return done

    def _rest(self, stop: Stop, seconds: float) -> None:
        with suppress(Cancelled):
            stop.sleep(seconds)

    def _work_on(self, taken: Taken, stop: Stop, workers: Workers) -> None:
        job = taken.job
        self.tell(f"job {job.id}: {job.purpose} of {job.question}, attempt {job.attempts + 1}")
        try:
            with private_folder(self.workshop.cache) as folder:
                order = self._order(taken, folder)
                with child_of(order, folder, folder.parent / "printed", self.environ) as child:
                    _Attempt(self, taken, child, stop, workers).see_through()
        except JobLost:
            self.tell(f"job {job.id}: it was given to another worker")
        except BisectError as error:
            self._report_own(taken, error)
        except OSError as error:
            self._report_own(taken, MachineFault(f"the worker cannot work: {error}", advice="look at its machine"))
        except Exception as error:  # noqa: BLE001  a defect of ours must not end the worker, nor be tried by others
            self.tell(traceback.format_exc())
            self._report_own(taken, BisectError(f"bisect has a defect: {error!r}", advice="report it"))

    def _order(self, taken: Taken, folder: Path) -> Order:
        questions, job = Questions(self.queue.database), taken.job
        question = questions.get(job.question)
        assert question is not None  # questions are never removed while they have jobs
        path = lay_out(folder, question.spec, tuple(questions.files(job.question)))
        return Order(
            spec=path.name,
            settings=self.workshop.settings,
            purpose=job.purpose,
            device=device_of(own_lane(job.lane, self.lanes)),
            after=taken.forgotten,
            parent=os.getpid(),
            token=token_in(self.environ),
            libraries=for_libraries(self.environ),
            narrow=narrow_for(self.queue.database, job),
        )

    def _report_own(self, taken: Taken, error: BisectError) -> None:
        """A fault of this worker: the job is tried again, here or elsewhere, when its pause or its lease is over."""
        self.tell(f"job {taken.job.id}: {error}")
        values = fault_values(error.what, error.advice, error.status, error.where)
        with suppress(BisectError, JobLost):
            self.queue.fail(taken, values)


@dataclass
class _Attempt:
    """One attempt at a job, from the start of its child to its end."""

    worker: Worker
    taken: Taken
    child: Child
    stop: Stop
    workers: Workers
    is_cancelled: bool = False
    has_got_on: bool = False
    end: Mapping[str, Any] | None = None
    beat: float = field(default_factory=time.monotonic)
    thinner: Thinner = field(default_factory=Thinner)

    def see_through(self) -> None:
        """Until the job has ended. Raises `JobLost`, and what `Database` raises."""
        while not self.child.is_over:
            self._pass_on(self.child.news(LOOK))
            if self.is_cancelled or self._is_given_back:
                self.child.stop()
        self._conclude()

    @property
    def _is_given_back(self) -> bool:
        return self.stop.is_set and not self.worker.waits

    def _pass_on(self, news: Sequence[News]) -> None:
        queue, taken, is_due = self.worker.queue, self.taken, self._is_due()
        self.end = next((body for kind, body in news if kind == END), self.end)
        events = self.thinner.thin(one for one in news if one[0] != END)
        self.is_cancelled = queue.tell(taken, events) if events or is_due else queue.look(taken)
        if any(kind == "trial_finished" and not body["stored"] for kind, body in events) and not self.has_got_on:
            queue.got_on(taken, own_lane(taken.job.lane, self.worker.lanes))
            self.has_got_on = True
        if is_due:
            state = WorkerState.DRAINING if self.stop.is_set else WorkerState.BUSY
            self.workers.tell(self.worker.id, state, taken.job.question)

    def _is_due(self) -> bool:
        """Whether it is time for a sign of life."""
        now = time.monotonic()
        if now - self.beat < self.worker.queue.span / BEATS:
            return False
        self.beat = now
        return True

    def _conclude(self) -> None:
        queue, taken, end = self.worker.queue, self.taken, self.end or {}
        run, outcome, error = end.get("run"), end.get("outcome"), end.get("error")
        is_stopped = self.end is None or (error is not None and error["status"] == Interrupted.status)
        self.worker.tell(f"job {taken.job.id}: {error['what'] if error else outcome or self.child.last_words()}")
        if self.end is not None and error is None:
            queue.finish(taken, run or "", outcome or "")
        elif is_stopped and (self.is_cancelled or queue.beat(taken)):
            queue.cancelled(taken, run, outcome)
        elif is_stopped and self._is_given_back:
            queue.give_back(taken, run, outcome)
        elif is_stopped:
            queue.fail(taken, self._lost_child())
        else:
            queue.fail(taken, error or {}, run, outcome)

    def _lost_child(self) -> dict[str, Any]:
        what = f"the process that answered {self.child.last_words()}"
        return fault_values(what, "look at the log of the worker, and at its memory", MachineFault.status)
