from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bisect_tool.service.pages.question_page import QuestionPage, Queued, Standing, active_job, question_page
from bisect_tool.service.question import Job, JobState, Purpose, Question, QuestionState, fault_values

QUESTION = Question(
    id="q" + "0" * 20, digest="d", name="toy-spec", title="", package="toy", channel="release", issue="javascript:alert(1)",
    spec="name: x", repro="r", owner="ada", source=None, state=QuestionState.QUEUED, outcome=None, run=None, error=None,
    submitted=1000.0, changed=1000.0,
)  # fmt: skip
JOB = Job(
    id=1, question=QUESTION.id, purpose=Purpose.ANSWER, state=JobState.WAITING, priority=50, lane="any", owner="ada",
    queued=1000.0, not_before=1000.0, attempts=0, cancel=False, worker=None, started=None, ended=None, run=None, outcome=None,
    error=None,
)  # fmt: skip


def page(*jobs: Job, place: Queued | None = None, may_work: bool = True, **changes: Any) -> QuestionPage:
    standing = Standing(replace(QUESTION, **changes), jobs, None, place, 1060.0)
    return question_page(standing, [("a.py", b"x = 1\n"), ("b.bin", b"\xff\x00")], None, may_work=may_work)


def told(shown: QuestionPage) -> tuple[str, ...]:
    assert shown.told is not None
    return shown.told.lines


def test_a_question_that_waits_says_where_it_stands_and_why() -> None:
    place = Queued(position=3, of=7, age=60.0, why="no worker for the lane h200 is there")
    assert told(page(JOB, place=place)) == (
        "It waits for a worker, 3 of 7 in the queue, for 1 min.",
        "No worker for the lane h200 is there.",
    )


def test_after_a_fault_of_the_machine_it_says_which() -> None:
    job = replace(JOB, error=fault_values("no space is left", "make room", 20, "/cache"))
    assert told(page(job)) == ("It waits for a worker.", "No space is left (/cache).", "Make room.")


def test_what_was_cancelled_and_still_runs_says_so() -> None:
    job = replace(JOB, state=JobState.RUNNING, cancel=True)
    assert told(page(job, state=QuestionState.RUNNING))[0] == "It was cancelled: what is known by now is being stored."


@pytest.mark.parametrize(
    ("state", "buttons"),
    [(QuestionState.QUEUED, (True, False)), (QuestionState.RUNNING, (True, False)), (QuestionState.ANSWERED, (False, True)),
     (QuestionState.FAILED, (False, True)), (QuestionState.CANCELLED, (False, True))],
)  # fmt: skip
def test_who_may_work_cancels_what_goes_on_and_retries_what_has_ended(
    state: QuestionState, buttons: tuple[bool, bool]
) -> None:
    shown = page(JOB, state=state)
    assert (shown.may_cancel, shown.may_retry) == buttons
    nobody = page(JOB, state=state, may_work=False)
    assert (nobody.may_cancel, nobody.may_retry) == (False, False)


def test_only_web_addresses_become_links() -> None:
    assert page(JOB).issue is None
    assert page(JOB, issue="https://github.com/pytorch/pytorch/issues/1").issue is not None


def test_files_that_are_no_text_are_told_not_shown() -> None:
    text, binary = page(JOB).files
    assert (text.text, text.told) == ("x = 1\n", "")
    assert (binary.text, binary.told) == (None, "No text, 2 B.")


def test_the_job_that_runs_is_shown_before_one_that_waits_and_checks_are_not() -> None:
    running = replace(JOB, id=2, state=JobState.RUNNING)
    check = replace(JOB, id=3, state=JobState.RUNNING, purpose=Purpose.VERIFY)
    assert active_job([check, JOB, running]) is running
    assert active_job([check]) is None


def test_without_a_title_the_name_is_shown() -> None:
    assert page(JOB).title == "toy-spec"
