"""`bisect worker` as a process of its own, on a database that it shares."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable

import psutil
import pytest

from bisect_tool.service.event_log import EventLog
from bisect_tool.service.question import Asker, QuestionState, Submission
from bisect_tool.service.questions import Questions
from bisect_tool.service.workers import Workers, WorkerState
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.database import Database
from tests.integration.conftest import Place, failing, history, kill, place
from tests.rig.asked import pass_time
from tests.service.test_worker import HANGS

__all__ = ["place"]


def until(process: subprocess.Popen[str], is_so: Callable[[], bool]) -> None:
    """Wait for something that a process does."""
    for _ in range(600):
        if is_so():
            return
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(process.communicate())
    raise AssertionError("it takes too long")


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_worker_is_killed_and_another_one_goes_on(place: Place, address: StoreAddress, database: Database) -> None:
    place.publish(history(4, failing([2, 3])))
    place.extra["BISECT_STORE"] = address.url.render_as_string(hide_password=False)
    gate, questions, log = place.root / "gate", Questions(database), EventLog(database)
    path = place.spec(script=HANGS.format(gate=str(gate)))
    asked = Submission(path.read_text(), (("repro.py", (path.parent / "repro.py").read_bytes()),))
    question = questions.submit(asked, Asker()).question.id

    worker = place.start("worker", "--lease", "5", "--sandbox", "off")
    kinds: Callable[[], list[str]] = lambda: [event.kind for event in log.after(0, question)]  # noqa: E731
    until(worker, lambda: kinds().count("trial_started") == 2)
    below = psutil.Process(worker.pid).children(recursive=True)
    assert len(below) >= 2
    kill(worker)
    psutil.wait_procs(below, timeout=30)
    assert not any(one.is_running() for one in below)

    gate.touch()
    pass_time(database, 6)
    ran = place.run("worker", "--once", "--lease", "5", "--sandbox", "off")
    assert ran.status == 0, ran.err
    found = questions.get(question)
    assert found is not None
    assert (found.state, found.outcome) == (QuestionState.ANSWERED, "exact")
    assert "job 1: exact" in ran.err


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_worker_ends_when_it_is_asked_to(place: Place, address: StoreAddress, database: Database) -> None:
    place.extra["BISECT_STORE"] = address.url.render_as_string(hide_password=False)
    worker = place.start("worker", "--at-once", "2", "--lanes", "cpu")
    workers = Workers(database, 5)
    until(worker, lambda: len(workers.seen()) == 2)
    worker.send_signal(signal.SIGTERM)
    _, errors = worker.communicate(timeout=60)
    assert worker.returncode == 0, errors
    assert [(one.state, one.lanes) for one in workers.seen()] == [(WorkerState.GONE, ("cpu",))] * 2
