from __future__ import annotations

from dataclasses import replace

from bisect_tool.service.pages.queue_page import MOST_WAITING, QueuePage, Works, queue_page
from bisect_tool.service.places import Place
from bisect_tool.service.question import Job, JobState, QuestionState
from bisect_tool.service.workers import WorkerSeen, WorkerState
from tests.service.pages.test_question_page import JOB, QUESTION

WORKER = WorkerSeen("w" * 32, "host-a", 42, ("any", "cpu"), WorkerState.BUSY, QUESTION.id, 3, 900.0, 5.0, is_alive=True)


def page(*workers: WorkerSeen, running: tuple[Job, ...] = (), waiting: int = 0) -> QueuePage:
    places = [Place(number, JOB, 60.0 * number, "") for number in range(1, waiting + 1)]
    counts = {QuestionState.ANSWERED: 12}
    return queue_page(Works(counts, running, places, workers, {QUESTION.id: "A title"}, 1100.0))


def test_figures() -> None:
    running = replace(JOB, state=JobState.RUNNING, worker=WORKER.id, started=1040.0)
    dead = replace(WORKER, id="x", is_alive=False)
    assert dict(page(WORKER, dead, running=(running,), waiting=2).figures) == {
        "jobs running": "1",
        "jobs waiting": "2",
        "longest wait": "2 min",
        "workers alive": "1",
        "questions answered": "12",
    }


def test_who_works_on_what_and_since_when() -> None:
    job = replace(JOB, state=JobState.RUNNING, worker=WORKER.id, started=1040.0, attempts=1)
    row = page(WORKER, running=(job,)).running[0]
    assert (row.title, row.worker, row.since, row.doing) == ("A title", "host-a, process 42", "1 min", "attempt 2")
    assert page(running=(replace(job, cancel=True),)).running[0].doing == "is being cancelled"


def test_a_worker_without_a_sign_of_life_is_marked() -> None:
    silent, gone = page(
        replace(WORKER, is_alive=False), replace(WORKER, state=WorkerState.GONE, is_alive=False)
    ).workers
    assert (silent.chip.word, gone.chip.word) == ("silent", "gone")
    assert silent.beat == 1095.0


def test_a_long_queue_is_cut_and_says_so() -> None:
    shown = page(waiting=MOST_WAITING + 3)
    assert (len(shown.waiting), shown.more) == (MOST_WAITING, 3)
