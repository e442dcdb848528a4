"""Questions that are asked again over toy builds of a moment each: for new builds, and to find an answer again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import func, select

from bisect_tool.builds.channel import names
from bisect_tool.runs.run import run_specs
from bisect_tool.runs.surveying import Wishes
from bisect_tool.service.answer_news import Fixed
from bisect_tool.service.answers import Answers
from bisect_tool.service.asking_again import asked_again
from bisect_tool.service.question import Purpose
from bisect_tool.service.recheck import Verdict
from bisect_tool.service.reviews import Review, ReviewRules, Reviews, narrow_for
from bisect_tool.service.streams import Streams, look_with
from bisect_tool.service.submissions import lay_out
from bisect_tool.service.watches import Watches, Watching, WatchRules
from bisect_tool.spec.reading import load_all
from bisect_tool.store import tables
from bisect_tool.store.last_reports import last_reports
from bisect_tool.store.service_tables import found_failures
from tests.rig.direct_runs import DirectRuns, direct_runs
from tests.rig.service_scene import Scene, scene
from tests.rig.toy import ToyBuild, day, toy_package

SPEC = "name: toy\npackage: toy\nchannel: release\ndevice: cpu\nflaky: '{flaky}'\nfrom: '1.0'\nto: {to}\nscript: repro.py\n"
FAILS = """import pathlib, sys, torch
number = int(torch.__version__.partition(".")[2])
sys.exit("gradient is all zero" if {condition} else 0)
"""


@dataclass
class Shop:
    """A cache with its database on a scripted clock, and what works on questions there."""

    runs: DirectRuns
    scene: Scene

    def __post_init__(self) -> None:
        database = self.scene.database
        watches = Watches(database, WatchRules(jitter=0))
        self.watching = Watching(watches, Streams(database), look_with(self.runs.workshop()), Random(1))

    def answer(self, condition: str, *, to: str = "", flaky: str = "no") -> str:
        """Ask a question and have it answered; gives its id."""
        script = FAILS.format(condition=condition)
        question = self.scene.ask(script=script, spec=SPEC.format(to=to, flaky=flaky))
        self.work()
        return question

    def work(self) -> None:
        """Do the job that is next, as a worker and its child do, and take in what was answered."""
        taken = self.scene.take()
        question = self.scene.questions.get(taken.job.question)
        assert question is not None
        folder = self.runs.folder / f"job-{taken.job.id}"
        folder.mkdir()
        path = lay_out(folder, question.spec, tuple(self.scene.questions.files(question.id)))
        (read,) = load_all([path], channels=names())
        narrow = narrow_for(self.scene.database, taken.job)
        read, wishes = asked_again(read, Wishes(), taken.job.purpose, narrow)
        workshop = replace(self.runs.workshop(), forgotten=taken.forgotten)
        (report,) = run_specs(workshop, [read], wishes, lambda _event: None)
        with workshop.results() as results:
            self.scene.queue.finish(taken, results.runs(most=1)[0].id, report.outcome)
        Answers(self.scene.database).take_in()

    def watch(self) -> list[str]:
        """Look at the channel, half an hour later; gives the questions that are asked again."""
        self.scene.hand.move(minutes=31)
        return [job.question for job in self.watching.turn()]

    def publish(self, first: int, last: int) -> None:
        """More builds."""
        history = [ToyBuild(f"1.{number}", uploaded=day(number + 1)) for number in range(first, last + 1)]
        toy_package(self.runs.index.folder, "toy", history, module="torch")

    def review(self) -> Review:
        """Have the answer reviewed on the next day."""
        self.scene.hand.move(days=1)
        reviews = Reviews(self.scene.database, ReviewRules(rests=0))
        assert len(reviews.pick()) == 1
        self.work()
        (review,) = reviews.conclude()
        return review

    def found(self) -> set[str]:
        """The runs that a look-up finds."""
        with self.scene.database.engine.connect() as connection:
            return set(connection.execute(select(found_failures.c.run)).scalars())

    def tried(self, after: int) -> dict[str, int]:
        """How many trials of each build were stored after the first so many."""
        table = tables.trials.c
        query = select(table.version, func.count()).where(table.id > after).group_by(table.version)
        with self.scene.database.engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with direct_runs(tmp_path, 5) as runs, runs.workshop().results() as results, scene(results.address) as made:
        yield Shop(runs, made)


def test_an_open_failure_is_closed_by_a_build_that_fixes_it(shop: Shop) -> None:
    """From what is known: the new builds alone are run, although the question named its last build."""
    question = shop.answer("2 <= number < 6", to="'1.4'")
    known = sum(shop.tried(0).values())
    assert shop.watch() == []
    shop.publish(5, 6)
    assert shop.watch() == [question]
    shop.work()
    last, _ = Answers(shop.scene.database).history(question)
    (told,) = last.news
    assert isinstance(told, Fixed)
    assert (told.kind, told.last_with, told.first_without) == ("exact", "1.5", "1.6")
    assert shop.tried(known) == {"1.5": 3, "1.6": 3}
    assert shop.found() == {last.run}
    assert shop.watch() == []


def test_an_answer_is_found_again_and_then_it_is_not(shop: Shop) -> None:
    """Fresh trials of both sides alone; what differs has the question answered again, with the new trials."""
    switch = shop.runs.folder / "switch"  # what the builds do depends on it, and nothing that is stored says so
    question = shop.answer(f"number > 1 and not pathlib.Path({str(switch)!r}).exists()", flaky="auto")
    known = sum(shop.tried(0).values())
    with shop.runs.workshop().results() as results:
        answered = last_reports(results, ["toy"])
        review = shop.review()
        (check,) = review.found.checks
        assert (check.verdict, check.without, check.with_) == (Verdict.SAME, "1.1", "1.2")
        assert last_reports(results, ["toy"]) == answered
    assert shop.found() == {review.of_run}
    assert shop.tried(known).keys() == {"1.1", "1.2"}
    switch.touch()
    review = shop.review()
    assert review.found.checks[0].note.startswith("1.2: pass, the answer rests on failing (")
    assert Reviews(shop.scene.database).doubted(question) == review
    shop.work()
    assert Reviews(shop.scene.database).doubted(question) is None
    purposes = [job.purpose for job in shop.scene.questions.jobs(question)]
    assert purposes == [Purpose.ANSWER, Purpose.VERIFY, Purpose.VERIFY, Purpose.ANSWER]
