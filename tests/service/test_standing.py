"""The state of a question agrees with its jobs after whatever happens, in any order."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress

import pytest

from bisect_tool.service.job_rows import standing
from bisect_tool.service.question import Asker, JobState, Purpose, QuestionState, fault_values
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import JobLost, Queue, Taken
from bisect_tool.store.database import Database
from tests.rig.asked import another, pass_time

ANN, LANES = Asker("ann"), ("cpu",)
TROUBLE, MISTAKE = fault_values("no space", "make room", 20), fault_values("no case", "correct it", 10)


class Doings:
    """Everything that can happen to three questions."""

    def __init__(self, database: Database, chance: random.Random) -> None:
        self.database, self.chance = database, chance
        self.questions, self.queue = Questions(database), Queue(database, 1000)
        self.asked = [self.questions.submit(another(number), ANN).question.id for number in range(3)]
        self.taken: list[Taken] = []
        self.runs = 0

    def do(self) -> None:
        self.chance.choice([
            self.take, self.take, self.take, self.end, self.end, self.end, self.end, self.cancel, self.retry, self.watch,
            self.wait, self.submit,
        ])()  # fmt: skip

    def take(self) -> None:
        if (taken := self.queue.take("w", LANES)) is not None:
            self.taken.append(taken)

    def end(self) -> None:
        if not self.taken:
            return
        taken, self.runs = self.taken.pop(self.chance.randrange(len(self.taken))), self.runs + 1
        run = f"r{self.runs}"
        ends: list[Callable[[], object]] = [
            lambda: self.queue.finish(taken, run, "exact"),
            lambda: self.queue.fail(taken, TROUBLE),
            lambda: self.queue.fail(taken, MISTAKE, run, "unfinished"),
            lambda: self.queue.give_back(taken),
            lambda: self.queue.cancelled(taken, run, "unfinished"),
            lambda: self.queue.got_on(taken, "cpu"),
        ]
        with suppress(JobLost):
            self.chance.choice(ends)()

    def cancel(self) -> None:
        self.questions.cancel(self.chance.choice(self.asked))

    def retry(self) -> None:
        self.questions.retry(self.chance.choice(self.asked), ANN, fresh=self.chance.random() < 0.5)

    def watch(self) -> None:
        purpose = self.chance.choice([Purpose.WATCH, Purpose.VERIFY])
        self.queue.add(self.chance.choice(self.asked), purpose, ANN, lane="cpu")

    def wait(self) -> None:
        pass_time(self.database, self.chance.choice([20, 400, 1001]))

    def submit(self) -> None:
        self.questions.submit(another(self.chance.randrange(3)), ANN)


@pytest.mark.parametrize("seed", range(2))
def test_the_state_agrees_with_the_jobs(database: Database, seed: int) -> None:
    doings = Doings(database, random.Random(seed))
    for _ in range(40):
        doings.do()
        for number in doings.asked:
            question, jobs = doings.questions.get(number), doings.questions.jobs(number)
            assert question is not None
            now = standing(jobs)
            assert (question.state, question.run, question.outcome) == (now.state, now.run, now.outcome)
            assert sum(job.state is JobState.RUNNING for job in jobs) <= 1
            open_answers = [job for job in jobs if job.ended is None and job.purpose in {"answer", "fresh"}]
            assert sum(not job.cancel for job in open_answers) <= 1
            is_open = question.state in {QuestionState.QUEUED, QuestionState.RUNNING}
            assert is_open == bool(open_answers)
