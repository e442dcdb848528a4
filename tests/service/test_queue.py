"""Who works on what next, and what becomes of work whose worker is gone."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import insert

from bisect_tool.service.event_log import EventLog
from bisect_tool.service.question import Asker, JobState, Purpose, QuestionState, fault_values
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import JobLost, Queue, Taken
from bisect_tool.store.database import Database
from bisect_tool.store.tables import runs
from tests.rig.asked import another, pass_time, submission

ANN, BOB = Asker("ann"), Asker("bob")
LANES = ("cpu", "any")
TROUBLE = fault_values("no space is left", "make room", 20)
MISTAKE = fault_values("no such case", "correct it", 10)


def ask(questions: Questions, number: int = 0, asker: Asker = ANN, priority: int = 50) -> str:
    return questions.submit(another(number), asker, priority=priority).question.id


def take(queue: Queue, worker: str = "worker") -> Taken:
    taken = queue.take(worker, LANES)
    assert taken is not None
    return taken


def state(questions: Questions, question: str) -> QuestionState:
    found = questions.get(question)
    assert found is not None
    return found.state


def test_a_job_is_taken_once(questions: Questions, queue: Queue) -> None:
    question = ask(questions)
    assert take(queue).job.question == question
    assert queue.take("other", LANES) is None
    assert state(questions, question) is QuestionState.RUNNING


def test_many_workers_at_once_take_each_job_once(questions: Questions, queue: Queue) -> None:
    asked = {ask(questions, number) for number in range(8)}
    with ThreadPoolExecutor(8) as pool:
        taken = [*pool.map(lambda number: queue.take(f"w{number}", LANES), range(8))]
    assert {one.job.question for one in taken if one is not None} == asked


def test_an_answer(questions: Questions, queue: Queue, database: Database) -> None:
    question = ask(questions)
    with database.engine.begin() as connection:
        row = {"id": "r1", "spec": "s", "repro": "r", "package": "toy", "started": "", "report": {"a": 1}}
        connection.execute(insert(runs).values(row))
    queue.finish(take(queue), "r1", "exact")
    found = questions.get(question)
    assert found is not None
    assert (found.state, found.run, found.outcome) == (QuestionState.ANSWERED, "r1", "exact")
    assert questions.report(question) == {"a": 1}
    kinds = [event.kind for event in EventLog(database).after(0, question)]
    assert kinds == ["job_queued", "job_started", "job_ended"]


def test_work_goes_on_as_long_as_its_worker_lives(questions: Questions, queue: Queue, database: Database) -> None:
    ask(questions)
    taken = take(queue)
    for _ in range(3):
        pass_time(database, 900)
        assert queue.beat(taken) is False
        assert queue.take("other", LANES) is None


def test_the_work_of_a_dead_worker_is_taken_over(questions: Questions, queue: Queue, database: Database) -> None:
    question = ask(questions)
    lost = take(queue)
    pass_time(database, 1001)
    again = take(queue, "other")
    assert (again.job.id, again.job.attempts) == (lost.job.id, 1)
    for too_late in (
        lambda: queue.beat(lost),
        lambda: queue.finish(lost, "r", "exact"),
        lambda: queue.give_back(lost),
        lambda: queue.fail(lost, TROUBLE),
        lambda: queue.cancelled(lost),
        lambda: queue.got_on(lost, "cpu"),
    ):
        with pytest.raises(JobLost):
            too_late()
    assert state(questions, question) is QuestionState.RUNNING


def test_a_fault_of_the_machine_is_tried_again_later_and_later(
    questions: Questions, queue: Queue, database: Database
) -> None:
    question = ask(questions)
    for pause in (10, 60, 300, 1200, 3600):
        queue.fail(take(queue), TROUBLE)
        assert state(questions, question) is QuestionState.QUEUED
        pass_time(database, pause - 5)
        assert queue.take("worker", LANES) is None
        pass_time(database, 6)
    queue.fail(take(queue), TROUBLE)
    found = questions.get(question)
    assert found is not None
    assert found.state is QuestionState.FAILED
    assert found.error is not None
    assert found.error["advice"] == "it was tried 6 times; make room; then have the question tried again (retry)"


def test_faults_count_from_the_last_new_trial(questions: Questions, queue: Queue, database: Database) -> None:
    ask(questions)
    for _ in range(10):
        taken = take(queue)
        queue.got_on(taken, "cpu")
        queue.fail(taken, TROUBLE)
        pass_time(database, 11)
    assert take(queue).job.attempts == 1


def test_a_job_that_kills_its_workers_ends(questions: Questions, queue: Queue, database: Database) -> None:
    question = ask(questions)
    for _ in range(6):
        take(queue)
        pass_time(database, 1001)
    assert queue.take("worker", LANES) is None
    assert state(questions, question) is QuestionState.FAILED


def test_a_mistake_of_the_spec_is_not_tried_again(questions: Questions, queue: Queue) -> None:
    question = ask(questions)
    queue.fail(take(queue), MISTAKE)
    assert state(questions, question) is QuestionState.FAILED
    assert questions.submit(another(0), ANN).job is None


def test_given_back_it_is_next_and_nothing_is_counted(questions: Questions, queue: Queue) -> None:
    question = ask(questions)
    queue.give_back(take(queue), "r1", "unfinished")
    found = questions.get(question)
    assert found is not None
    assert (found.state, found.run, found.outcome) == (QuestionState.QUEUED, "r1", "unfinished")
    assert take(queue).job.attempts == 0


def test_cancelled_while_it_runs(questions: Questions, queue: Queue) -> None:
    question = ask(questions)
    taken = take(queue)
    questions.cancel(question)
    assert state(questions, question) is QuestionState.RUNNING
    assert queue.beat(taken) is True
    queue.cancelled(taken, "r1", "unfinished")
    found = questions.get(question)
    assert found is not None
    assert (found.state, found.run) == (QuestionState.CANCELLED, "r1")


def test_cancelled_while_its_worker_is_dead(questions: Questions, queue: Queue, database: Database) -> None:
    question = ask(questions)
    take(queue)
    questions.cancel(question)
    pass_time(database, 1001)
    assert queue.take("other", LANES) is None
    assert state(questions, question) is QuestionState.CANCELLED


def test_priority_counts_and_age_counts_more(questions: Questions, queue: Queue, database: Database) -> None:
    old = ask(questions, 1, priority=0)
    pass_time(database, 5000)
    newer, newest = ask(questions, 2, BOB, priority=80), ask(questions, 3, BOB, priority=90)
    assert [place.job.question for place in queue.waiting()] == [newest, old, newer]


def test_who_has_used_less_comes_first(questions: Questions, queue: Queue, database: Database) -> None:
    burst = [ask(questions, number) for number in range(3)]
    alone = ask(questions, 9, BOB)
    taken = take(queue)
    pass_time(database, 60)
    queue.beat(taken)
    assert [place.job.question for place in queue.waiting()] == [alone, *burst[1:]]


def test_over_the_budget_others_come_first_and_it_says_why(
    questions: Questions, queue: Queue, database: Database
) -> None:
    poor = Asker("ann", 100)
    asked = [questions.submit(another(number), poor).question.id for number in range(2)]
    taken = take(queue)
    pass_time(database, 120)
    queue.beat(taken)
    pass_time(database, 7200)
    rich = ask(questions, 5, BOB)
    mine = queue.waiting()
    assert [place.job.question for place in mine] == [rich, asked[1]]
    assert re.match(r"ann has used 1\d\d s of workers since yesterday, of 100 s a day: others go first", mine[1].why)
    pass_time(database, 86_400)
    assert "ann has used" not in "".join(place.why for place in queue.waiting())


def test_a_newer_answer_makes_older_watches_and_checks_useless(
    questions: Questions, queue: Queue, database: Database
) -> None:
    question = ask(questions)
    queue.finish(take(queue), "r1", "exact")
    watch = queue.add(question, Purpose.WATCH, ANN, lane="cpu")
    verify = queue.add(question, Purpose.VERIFY, ANN, lane="cpu")
    retry = questions.retry(question, ANN, fresh=True)
    running = take(queue)
    assert running.job.id == watch.id
    queue.give_back(running)
    with database.engine.begin() as connection:
        from bisect_tool.store.service_tables import jobs

        connection.execute(jobs.update().where(jobs.c.id == retry.id).values(priority=100))
    queue.finish(take(queue), "r2", "exact")
    states = {job.id: job.state for job in questions.jobs(question)}
    assert (states[watch.id], states[verify.id]) == (JobState.CANCELLED, JobState.CANCELLED)
    assert state(questions, question) is QuestionState.ANSWERED


def test_checking_an_answer_leaves_it_alone(questions: Questions, queue: Queue) -> None:
    question = ask(questions)
    queue.finish(take(queue), "r1", "exact")
    queue.add(question, Purpose.VERIFY, ANN, lane="cpu")
    assert state(questions, question) is QuestionState.ANSWERED
    queue.finish(take(queue), "r2", "narrowed")
    found = questions.get(question)
    assert found is not None
    assert (found.state, found.run, found.outcome) == (QuestionState.ANSWERED, "r1", "exact")


def test_one_at_a_time_works_on_a_question(questions: Questions, queue: Queue) -> None:
    question = ask(questions)
    queue.add(question, Purpose.WATCH, ANN, lane="cpu")
    take(queue)
    assert queue.take("other", LANES) is None


def test_the_same_work_is_wanted_once(questions: Questions, queue: Queue) -> None:
    question = ask(questions)
    first = queue.add(question, Purpose.WATCH, ANN, lane="cpu")
    assert queue.add(question, Purpose.WATCH, BOB, lane="cpu") == first
    with pytest.raises(LookupError):
        queue.add("q0", Purpose.WATCH, ANN)


def test_a_submission_that_is_not_new_gives_the_running_job(questions: Questions, queue: Queue) -> None:
    ask(questions)
    taken = take(queue)
    again = questions.submit(another(0), BOB)
    assert again.job == replace(taken.job)


def test_a_question_that_was_never_asked_is_not_cancelled(queue: Queue, questions: Questions) -> None:
    queue.cancel("q0")
    assert questions.submit(submission(), ANN).is_new
