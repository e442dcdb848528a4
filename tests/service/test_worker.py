"""Workers answer questions over a toy package from a local index, with the real child process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from sqlalchemy import func, select

from bisect_tool.runs.workshop import Workshop, open_workshop
from bisect_tool.service.event_log import EventLog
from bisect_tool.service.question import Asker, JobState, Question, QuestionState, Submission
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.service.worker import Worker
from bisect_tool.settings import read_settings
from bisect_tool.stopping import Stop
from bisect_tool.store import tables
from bisect_tool.store.results import Results
from tests.integration.conftest import Place, failing, history, place
from tests.rig.asked import pass_time

__all__ = ["place"]

ANN = Asker("ann")
LANES = ("cpu", "any")


@dataclass
class Shop:
    """A service without a server: questions, a queue and a workshop on the cache of a place."""

    place: Place
    workshop: Workshop
    results: Results

    @property
    def questions(self) -> Questions:
        return Questions(self.results.database)

    @property
    def queue(self) -> Queue:
        return Queue(self.results.database, 1000)

    def ask(self, name: str = "toy-spec", *, script: str | None = None, **keys: object) -> str:
        path = self.place.spec(name, script=script, **keys)
        script_bytes = (path.parent / "repro.py").read_bytes()
        return self.questions.submit(Submission(path.read_text(), (("repro.py", script_bytes),)), ANN).question.id

    def question(self, number: str) -> Question:
        found = self.questions.get(number)
        assert found is not None
        return found

    def work(self, stop: Stop | None = None, tell: Callable[[str], None] = print, *, waits: bool = False) -> int:
        worker = Worker(self.workshop, self.queue, LANES, waits, self.place.environ(), tell)
        return worker.work(stop or Stop(), until_idle=True)

    def trials(self) -> int:
        with self.results.engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(tables.trials)).scalar_one()

    def kinds(self, question: str) -> list[str]:
        return [event.kind for event in EventLog(self.results.database).after(0, question)]


@pytest.fixture
def shop(place: Place) -> Iterator[Shop]:
    place.publish(history(4, failing([2, 3])))
    environ = place.environ()
    workshop = open_workshop(read_settings({}, environ, Path(environ["HOME"])), environ)
    with workshop.results() as results:
        yield Shop(place, workshop, results)


def test_a_question_is_answered_and_its_work_can_be_watched(shop: Shop) -> None:
    asked = shop.ask()
    assert shop.work() == 1
    question = shop.question(asked)
    assert (question.state, question.outcome) == (QuestionState.ANSWERED, "exact")
    report = shop.questions.report(asked)
    assert report is not None
    ends = report["failures"][0]["episodes"][0]["appeared"]
    assert (ends["last_without"], ends["first_with"]) == ("1.1", "1.2")
    kinds = shop.kinds(asked)
    assert kinds[:3] == ["job_queued", "job_started", "run_started"]
    assert {"build_chosen", "installed", "trial_finished", "run_finished"} <= {*kinds}
    assert kinds[-1] == "job_ended"
    assert not [*(shop.place.cache / "questions").iterdir()]
    assert report["repeat"].startswith("bisect run spec.yaml --device cpu ")
    assert str(shop.place.root) not in report["repeat"]


# Passes on the newest build, which is tried first, and then never ends, unless a file lets it.
HANGS = """
import pathlib, time, toy
while toy.__version__ != "1.3" and not pathlib.Path({gate!r}).exists():
    time.sleep(0.01)
raise SystemExit(toy.__version__ > "1.1")
"""


@dataclass
class Working:
    """A worker in a thread, on a question whose second trial hangs until `gate` is there."""

    shop: Shop
    asked: str
    gate: Path
    stop: Stop
    thread: threading.Thread

    def wait_for(self, kind: str, count: int = 1) -> None:
        for _ in range(1200):
            if self.shop.kinds(self.asked).count(kind) >= count:
                return
            self.thread.join(0.1)
        raise AssertionError(self.shop.kinds(self.asked))

    def child(self) -> psutil.Process:
        (child,) = [
            one
            for one in psutil.Process().children()
            if one.status() != psutil.STATUS_ZOMBIE and "bisect_tool.service.answering" in " ".join(one.cmdline())
        ]
        return child


@contextmanager
def working(shop: Shop, *, waits: bool = False) -> Iterator[Working]:
    gate, stop = shop.place.root / "gate", Stop()
    asked = shop.ask(script=HANGS.format(gate=str(gate)))
    thread = threading.Thread(target=lambda: shop.work(stop, waits=waits))
    thread.start()
    at_work = Working(shop, asked, gate, stop, thread)
    try:
        at_work.wait_for("trial_started", 2)
        yield at_work
    finally:
        gate.touch()
        stop.set()
        thread.join()


def test_a_cancelled_question_is_stopped_and_what_is_known_is_reported(shop: Shop) -> None:
    others = {*psutil.Process().children()}  # such as the database of other tests
    with working(shop) as at_work:
        shop.questions.cancel(at_work.asked)
        at_work.wait_for("job_ended")
    question = shop.question(at_work.asked)
    assert (question.state, question.outcome) == (QuestionState.CANCELLED, "unfinished")
    assert shop.questions.report(at_work.asked) is not None
    assert {*psutil.Process().children()} <= others


def test_what_was_begun_is_given_back_and_another_goes_on(shop: Shop) -> None:
    with working(shop) as at_work:
        arguments, environ = at_work.child().cmdline(), at_work.child().environ()
        at_work.stop.set()
        at_work.wait_for("job_queued", 2)
    assert shop.question(at_work.asked).state is QuestionState.QUEUED
    assert not any(str(shop.place.cache) in word for word in arguments)
    assert "BISECT_INDEX" not in environ
    before = shop.trials()
    assert shop.work() == 1
    (job,) = shop.questions.jobs(at_work.asked)
    assert (job.state, job.attempts, job.outcome) == (JobState.DONE, 0, "exact")
    assert before == 1


def test_a_worker_that_waits_finishes_what_it_has(shop: Shop) -> None:
    with working(shop, waits=True) as at_work:
        at_work.stop.set()
        at_work.gate.touch()
        at_work.wait_for("job_ended")
    assert shop.question(at_work.asked).outcome == "exact"


def test_a_child_that_is_killed_is_a_fault_of_the_machine(shop: Shop) -> None:
    with working(shop) as at_work:
        at_work.child().send_signal(signal.SIGKILL)
        at_work.wait_for("job_queued", 2)
    (job,) = shop.questions.jobs(at_work.asked)
    assert (job.state, job.attempts) == (JobState.WAITING, 1)
    assert job.error is not None
    assert job.error["what"] == "the process that answered was ended by SIGKILL"
    assert shop.work() == 0  # its pause is not over
    pass_time(shop.results.database, 11)
    assert shop.work() == 1
    assert shop.question(at_work.asked).outcome == "exact"


def test_an_answer_without_stored_trials_goes_on_from_its_own(shop: Shop) -> None:
    with working(shop) as at_work:
        at_work.gate.touch()
        at_work.wait_for("job_ended")
    before = shop.trials()
    at_work.gate.unlink()
    shop.questions.retry(at_work.asked, ANN, fresh=True)
    stop = Stop()
    thread = threading.Thread(target=lambda: shop.work(stop))
    thread.start()
    again = Working(shop, at_work.asked, at_work.gate, stop, thread)
    again.wait_for("trial_finished", before + 1)
    stop.set()
    thread.join()
    assert shop.trials() == before + 1
    at_work.gate.touch()
    shop.work()
    assert shop.question(at_work.asked).outcome == "exact"
    assert shop.trials() == 2 * before


def test_a_mistake_that_only_the_run_shows(shop: Shop) -> None:
    asked = shop.ask(from_="7.0")
    shop.work()
    question = shop.question(asked)
    assert question.state is QuestionState.FAILED
    assert question.error is not None
    assert question.error["status"] == 12
