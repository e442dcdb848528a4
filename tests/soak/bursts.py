"""Many submissions at once, of questions of which each is asked twice."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from bisect_tool.service.queue import Queue
from tests.soak.stage import ASKER, Soak
from tests.soak.toys import BUILDS, question


def burst(soak: Soak, count: int) -> str:
    """Half of the submissions are asked twice; each must be one question with one job."""
    submissions = [question(number // 2, 1 + number // 2 % (BUILDS - 1)) for number in range(count)]
    soak.chance.shuffle(submissions)
    began = time.monotonic()
    with ThreadPoolExecutor(32) as pool:
        answers = [*pool.map(lambda one: soak.questions.submit(one, ASKER), submissions)]
    took = time.monotonic() - began
    waiting = Queue(soak.database).waiting()
    assert len({answer.question.id for answer in answers}) == (count + 1) // 2
    assert sum(answer.is_new for answer in answers) == (count + 1) // 2
    assert sorted(place.job.question for place in waiting) == sorted({answer.question.id for answer in answers})
    return f"{count} submissions in {took:.1f} s, {len(waiting)} questions, none lost"
