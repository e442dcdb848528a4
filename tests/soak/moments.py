"""When servers and workers are killed: at any time, and at each of the moments at which they have something in their hands."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Connection, func, select

from bisect_tool.service.event_log import EventLog
from bisect_tool.service.question import JobState
from bisect_tool.store import tables
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import jobs, questions, workers
from tests.rig.fake_github import Fault
from tests.rig.hook_receiver import Answer
from tests.soak.crowd import Crowd
from tests.soak.heard import Others

PATIENCE = 20.0  # seconds that a moment is waited for; when it does not come, another one is taken
LOOK = 0.05  # seconds between two looks for it


class Moment(StrEnum):
    """What is going on when somebody is killed."""

    ANY = "any time"
    START = "start"  # of the youngest process
    ASK = "submission"  # a server has the request
    CLAIM = "claim"  # a worker has just taken a job
    TRIAL = "trial"  # one has begun
    STORE = "store"  # one was just stored
    SAY = "comment"  # GitHub has the request, carried out or not, and has not answered
    CALL = "webhook"  # the receiver has the delivery, and has not answered
    DRAIN = "drain"  # after SIGTERM


OFTEN = {Moment.ANY: 4, Moment.SAY: 4}  # in each round; the others twice


def moments(chance: random.Random) -> Iterator[Moment]:
    """All moments, again and again, in another order each time."""
    while True:
        turn = [moment for moment in Moment for _ in range(OFTEN.get(moment, 2))]
        chance.shuffle(turn)
        yield from turn


@dataclass
class Killer:
    """Kills somebody at a moment. `ask` submits a question, and tells the function that it is given which process has it.

    `children` is how often a process that answers is killed instead of its worker; `patience` as `PATIENCE`.
    """

    crowd: Crowd
    database: Database
    others: Others
    chance: random.Random
    ask: Callable[[Callable[[int], None]], object]
    children: float = 1 / 3
    patience: float = PATIENCE

    def kill(self, moment: Moment) -> bool:
        """Kill somebody at this moment; False when it did not come."""
        before = self.crowd.kills
        match moment:
            case Moment.ANY:
                time.sleep(self.chance.uniform(0.0, 2.0))
                self._strike(self.chance.choice(self.crowd.members).process.pid, moment)
            case Moment.START:
                youngest = max(self.crowd.members, key=lambda one: one.since)
                time.sleep(self.chance.uniform(0.0, 2.0))
                self.crowd.strike(youngest.process.pid, moment)
            case Moment.ASK:
                self._while_asked()
            case Moment.CLAIM | Moment.TRIAL:
                self._at_event("job_started" if moment is Moment.CLAIM else "trial_started", moment)
            case Moment.STORE:
                self._at_store()
            case Moment.SAY:
                self._at_comment()
            case Moment.CALL:
                self._at_delivery()
            case Moment.DRAIN:
                self.crowd.strike_ending(self.chance.choice(self.crowd.members), self.chance.uniform(0.05, 1.0))
        return self.crowd.kills > before

    def _strike(self, pid: int, moment: Moment) -> None:
        """A process, or one that answers for it."""
        if self.chance.random() < self.children and self.crowd.strike_child(pid, moment, self.chance):
            return
        self.crowd.strike(pid, moment)

    def _while_asked(self) -> None:
        after = self.chance.uniform(0.0, 0.1)
        timers: list[threading.Timer] = []

        def asked(pid: int) -> None:
            if not timers:  # only at the first attempt
                timers.append(threading.Timer(after, self.crowd.strike, (pid, Moment.ASK)))
                timers[0].start()

        self.ask(asked)
        timers[0].join()

    def _at_event(self, kind: str, moment: Moment) -> None:
        log = EventLog(self.database)
        last = log.newest()

        def seen() -> str | None:
            return next((one.question for one in log.after(last) if one.kind == kind), None)

        self._at_work(seen, moment)

    def _at_store(self) -> None:
        newest = select(func.max(tables.trials.c.id))
        last = self.database.read(lambda connection: connection.execute(newest).scalar()) or 0
        of = select(questions.c.id).join(tables.trials, tables.trials.c.repro == questions.c.repro)
        of = of.where(tables.trials.c.id > last).limit(1)
        self._at_work(lambda: self.database.read(lambda connection: connection.execute(of).scalar()), Moment.STORE)

    def _at_work(self, seen: Callable[[], str | None], moment: Moment) -> None:
        """Once a question is seen, whoever works on it."""
        if self._comes(lambda: seen() is not None):
            question = seen()
            pid = self.database.read(lambda connection: _pid_at(connection, question or ""))
            time.sleep(self.chance.choice([0.0, self.chance.uniform(0.0, 0.3)]))
            if pid is not None:
                self._strike(pid, moment)

    def _at_comment(self) -> None:
        struck = threading.Event()

        def strikes(port: int) -> None:
            if self.crowd.strike_at(port, Moment.SAY):
                struck.set()

        faults = [
            (kind, Fault(is_done=self.chance.random() < 2 / 3, hangs_up=True, strikes=strikes))
            for kind in ("create", "edit")
        ]
        with self.others.github.lock:
            self.others.github.faults += faults
        self._comes(struck.is_set)
        with self.others.github.lock:
            self.others.github.faults[:] = [one for one in self.others.github.faults if one not in faults]

    def _at_delivery(self) -> None:
        struck = threading.Event()

        def strikes(port: int) -> None:
            if self.crowd.strike_at(port, Moment.CALL):
                struck.set()

        answer = Answer(0, strikes=strikes)
        self.others.receiver.answers.append(answer)
        self._comes(struck.is_set)
        if answer in self.others.receiver.answers:
            self.others.receiver.answers.remove(answer)

    def _comes(self, is_so: Callable[[], bool]) -> bool:
        end = time.monotonic() + self.patience
        while not is_so():
            if time.monotonic() > end:
                return False
            self.crowd.revive()
            time.sleep(LOOK)
        return True


def _pid_at(connection: Connection, question: str) -> int | None:
    """The process whose worker works on a question."""
    query = select(workers.c.pid).join(jobs, jobs.c.worker == workers.c.id)
    return connection.execute(query.where(jobs.c.question == question, jobs.c.state == JobState.RUNNING)).scalar()
