"""Events come in the order of their numbers, and nobody who reads misses one."""

from __future__ import annotations

import threading

from bisect_tool.service.event_log import EventLog
from bisect_tool.service.question import Asker
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.store.database import Database
from tests.rig.asked import submission


def test_in_their_order_and_from_where_one_was(database: Database) -> None:
    log = EventLog(database)
    log.add("q1", 1, [("notice", {"text": "a"}), ("notice", {"text": "\x00 \ud800"})])
    log.add("q2", 2, [("checking", {"build": "1.0", "slot": None})])
    log.add("q2", 2, [])
    first, second, third = log.after(0)
    assert [event.kind for event in (first, second, third)] == ["notice", "notice", "checking"]
    assert (second.question, second.job, second.body) == ("q1", 1, {"text": "\x00 \ud800"})
    assert log.after(first.id, "q1") == [second]
    assert log.after(0, most=1) == [first]
    assert log.newest() == third.id


def test_whoever_reads_while_many_write_misses_nothing(database: Database) -> None:
    log, last = EventLog(database), 0
    seen: list[int] = []

    def write(number: int) -> None:
        for _ in range(10):
            log.add(f"q{number}", number, [("notice", {}), ("notice", {})])

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    while len(seen) < 80:
        found = log.after(last)
        seen += [event.id for event in found]
        last = seen[-1] if seen else 0
        assert found or any(writer.is_alive() for writer in writers) or log.after(last)
    for writer in writers:
        writer.join()
    assert len({*seen}) == 80


def test_of_a_question_that_has_ended_the_last_are_kept(database: Database, questions: Questions, queue: Queue) -> None:
    log, asked = EventLog(database), questions.submit(submission(), Asker())
    assert asked.job is not None
    log.add(asked.question.id, asked.job.id, [("notice", {"text": str(number)}) for number in range(600)])
    log.prune(asked.question.id, 100)
    assert len(log.after(0, asked.question.id, most=1000)) == 601
    taken = queue.take("worker", ("cpu",))
    assert taken is not None
    queue.finish(taken, "r1", "exact")
    kept = log.after(0, asked.question.id, most=1000)
    assert (len(kept), kept[-1].kind) == (500, "job_ended")
