"""A sample of old answers is run again, on another day or by another host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import insert, select, update

from bisect_tool.reports.report import Report
from bisect_tool.service.accuracy import read_accuracy
from bisect_tool.service.answers import Answers
from bisect_tool.service.event_log import EventLog
from bisect_tool.service.question import Asker, Purpose, QuestionState
from bisect_tool.service.recheck import Verdict
from bisect_tool.service.reviews import Candidate, ReviewRules, Reviews, drawn, may_review, narrow_for
from bisect_tool.service.workers import Workers
from bisect_tool.store import tables
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.service_tables import jobs, reviews, workers
from tests.rig.answers import answer
from tests.rig.service_scene import LANES, SPAN, Scene, scene

ASKER = Asker("somebody")
DAY = 86_400.0
NOBODY: frozenset[str] = frozenset()


@pytest.fixture
def at(own_address: StoreAddress) -> Iterator[Scene]:
    with scene(own_address) as made:
        yield made


@pytest.fixture
def shared(address: StoreAddress) -> Iterator[Scene]:
    with scene(address) as made:
        yield made


def begun(at: Scene, report: Report | None = None) -> str:
    """An answer of yesterday whose review is in the queue; gives the question."""
    question = at.answered(report or answer("✓✓AA"))
    Answers(at.database).take_in()
    at.hand.move(days=1, minutes=1)
    assert Reviews(at.database).pick() == [question]
    return question


def candidate(name: str, age: float = DAY, host: str | None = "here") -> Candidate:
    return Candidate(name, "run", age, "cpu", host)


def test_the_sample_of_a_day_is_the_same_whoever_draws_it() -> None:
    all_of_them = [candidate(f"q{number}") for number in range(1000)]
    sample = [one.question for number, one in drawn("2026-05-01", all_of_them) if number < 0.02]
    assert sample == [one.question for number, one in drawn("2026-05-01", all_of_them[::-1]) if number < 0.02]
    assert 10 <= len(sample) <= 35
    assert sample != [one.question for number, one in drawn("2026-05-02", all_of_them) if number < 0.02]


def test_only_another_day_or_another_host_makes_a_review() -> None:
    assert may_review(candidate("q"), frozenset({"here"}))
    assert not may_review(candidate("q", 100.0), frozenset({"here"}))
    assert may_review(candidate("q", 100.0), frozenset({"here", "there"}))
    assert not may_review(candidate("q", 100.0, None), frozenset({"here"}))


def test_an_answer_that_is_found_again(shared: Scene) -> None:
    question = begun(shared)
    assert Reviews(shared.database).pick() == []
    assert Reviews(shared.database).conclude() == []
    before = shared.questions.get(question)
    run = shared.finish(answer("✓A", first=1, outcome="exact"), Purpose.VERIFY)
    (review,) = Reviews(shared.database).conclude()
    assert (review.found.verdict, review.run) == (Verdict.SAME, run)
    after = shared.questions.get(question)
    assert before is not None
    assert after is not None
    assert (after.run, after.state) == (before.run, QuestionState.ANSWERED)
    assert Reviews(shared.database).conclude() == []
    assert Reviews(shared.database).doubted(question) is None
    found = read_accuracy(shared.database)
    assert (found.answers.same, found.kinds["exact"].share, found.coverage.share) == (1, 1.0, 1.0)
    assert Answers(shared.database).take_in() == []  # it is no answer of its own


def test_a_difference_is_shown_and_the_question_answered_again(shared: Scene) -> None:
    question = begun(shared)
    shared.finish(answer("✓✓", first=1), Purpose.VERIFY)
    (review,) = Reviews(shared.database).conclude()
    assert review.found.verdict is Verdict.DIFFERS
    doubted = Reviews(shared.database).doubted(question)
    assert doubted == review
    asked = shared.questions.get(question)
    assert asked is not None
    assert asked.state is QuestionState.QUEUED
    assert [one.question for one in read_accuracy(shared.database).doubted] == [question]
    told = [one.body for one in EventLog(shared.database).after(0, question) if one.kind == "answer_reviewed"]
    assert [one["verdict"] for one in told] == ["differs"]
    shared.finish(answer("✓✓✓A"), Purpose.ANSWER)
    assert Reviews(shared.database).doubted(question) is None
    found = read_accuracy(shared.database)
    assert (found.answers.differs, found.doubted) == (1, ())


def test_a_review_that_fails_says_nothing(at: Scene) -> None:
    question = begun(at)
    at.queue.fail(at.take(Purpose.VERIFY), {"status": 12, "what": "gone", "where": None, "advice": ""})
    (review,) = Reviews(at.database).conclude()
    assert (review.question, review.found.verdict, review.run) == (question, Verdict.NO_ANSWER, None)
    assert read_accuracy(at.database).answers.no_answer == 1


@pytest.mark.parametrize("second", ["other", "first"])
def test_another_file_under_the_same_name(at: Scene, second: str) -> None:
    report = answer("✓✓AA")
    question = begun(at, report)

    def trial(identity: str) -> None:
        row = dict.fromkeys(("case_digest", "setting", "device", "case_name", "package", "folder", "command"), "")
        row |= {"repro": report.spec.digest, "version": "1.2", "identity": identity, "finished": ""}
        with at.database.engine.begin() as connection:
            connection.execute(insert(tables.trials), {**row, "observation": {}, "duration": 1.0})

    trial("first")
    taken = at.take(Purpose.VERIFY)
    trial(second)
    at.queue.finish(taken, at.keep(answer("✓✓", first=1)), "no change")
    (review,) = Reviews(at.database).conclude()
    told = {"other": (Verdict.REPLACED, ("1.2",)), "first": (Verdict.DIFFERS, ())}
    assert (review.found.verdict, review.found.replaced) == told[second]
    assert Reviews(at.database).doubted(question) is not None


def test_what_claims_nothing_is_passed_over(at: Scene) -> None:
    at.answered(answer("???", outcome="not judged"), "one")
    at.answered(answer("A~A", outcome="no change"), "two")
    at.answered(answer("✓✓"), "three")
    Answers(at.database).take_in()
    at.hand.move(days=2)
    (question,) = Reviews(at.database).pick()
    found = at.questions.get(question)
    assert found is not None
    assert found.name == "three"


def test_nobody_is_kept_waiting_but_the_share_is_taken(at: Scene) -> None:
    for number in range(3):
        at.answered(answer("✓A"), f"q{number}")
    Answers(at.database).take_in()
    at.hand.move(days=2)
    at.ask("waiting")
    assert Reviews(at.database, ReviewRules(share=0.0)).pick() == []
    assert len(Reviews(at.database, ReviewRules(share=1.0, most=2)).pick()) == 2
    assert Reviews(at.database, ReviewRules(share=1.0, most=2)).pick() == []
    at.hand.move(days=1)
    assert len(Reviews(at.database, ReviewRules(share=1.0, most=2)).pick()) == 1


def test_on_the_same_day_only_another_host_takes_it(at: Scene) -> None:
    at.answered(answer("✓A"))
    Answers(at.database).take_in()
    at.hand.move(minutes=5)
    assert Reviews(at.database).pick() == []
    other = Workers(at.database, SPAN).sign_on(LANES)
    with at.database.engine.begin() as connection:
        connection.execute(update(workers).where(workers.c.id == other).values(host="elsewhere"))
    assert len(Reviews(at.database).pick()) == 1
    assert at.queue.take(at.worker, LANES) is None
    taken = at.queue.take(other, LANES)
    assert taken is not None
    assert taken.job.purpose is Purpose.VERIFY


def test_what_is_run_again(at: Scene) -> None:
    begun(at, answer("✓✓A?✓"))
    job = at.take(Purpose.VERIFY).job
    narrow = narrow_for(at.database, job)
    assert narrow is not None
    assert narrow["only"] == ["1.1", "1.2", "1.4"]
    assert (narrow["channel"], narrow["from_"], narrow["to"]) == ("release", "2.8", "2.15")
    with at.database.engine.connect() as connection:
        assert connection.execute(select(reviews.c.job)).scalar_one() == job.id
        assert connection.execute(select(jobs.c.priority).where(jobs.c.id == job.id)).scalar_one() == 0


def test_of_an_answer_that_cannot_be_read_any_more_nothing_is_said(at: Scene) -> None:
    question = begun(at)
    with at.database.engine.begin() as connection:
        connection.execute(update(tables.runs).values(report={"schema_version": 99}))
    at.finish(answer("✓✓AA"), Purpose.VERIFY)
    (review,) = Reviews(at.database).conclude()
    assert (review.question, review.found.verdict) == (question, Verdict.NO_ANSWER)
    assert Reviews(at.database).conclude() == []


def test_a_doubted_answer_that_came_by_a_watch_is_looked_for_by_one(at: Scene) -> None:
    question = at.answered(answer("✓✓AA"))
    at.queue.add(question, Purpose.WATCH, ASKER, 0, "cpu")
    at.finish(answer("✓✓AAA"), Purpose.WATCH)
    Answers(at.database).take_in()
    at.hand.move(days=1, minutes=1)
    assert Reviews(at.database).pick() == [question]
    at.finish(answer("✓✓✓✓✓"), Purpose.VERIFY)
    (review,) = Reviews(at.database).conclude()
    assert review.found.verdict is Verdict.DIFFERS
    assert at.questions.jobs(question)[-1].purpose is Purpose.WATCH
