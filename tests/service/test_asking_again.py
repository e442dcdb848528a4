"""Questions that are asked again, by real workers over a toy package from a local index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import func, select

from bisect_tool.runs.workshop import Workshop, open_workshop
from bisect_tool.service.answer_news import Fixed
from bisect_tool.service.answers import Answers
from bisect_tool.service.question import Asker, Purpose, QuestionState, Submission
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.service.recheck import Verdict
from bisect_tool.service.reviews import Review, ReviewRules, Reviews
from bisect_tool.service.streams import Streams, look_with
from bisect_tool.service.watches import Watches, Watching, WatchRules
from bisect_tool.service.worker import Worker
from bisect_tool.service.workers import Workers
from bisect_tool.settings import read_settings
from bisect_tool.stopping import Stop
from bisect_tool.store import tables
from bisect_tool.store.last_reports import last_reports
from bisect_tool.store.results import Results
from tests.integration.conftest import Place, failing, history, place
from tests.rig.service_scene import LANES, SPAN, ClockedDatabase, Hand

__all__ = ["place"]


@dataclass
class Shop:
    """A cache with its database, and what works on questions there; the clock of watches and reviews is scripted."""

    place: Place
    workshop: Workshop
    results: Results

    def __post_init__(self) -> None:
        opened = self.results.database
        with opened.engine.connect() as connection:
            now = float(connection.execute(select(opened.now())).scalar_one())
        self.later = ClockedDatabase(opened.engine, opened.address, opened.patience, hand=Hand(now))
        self.watching = Watching(
            Watches(self.later, WatchRules(jitter=0)), Streams(self.later), look_with(self.workshop), Random(1)
        )
        Workers(self.later, SPAN).sign_on(LANES)

    def answer(self, script: str | None = None) -> str:
        """Ask a question and have it answered; gives its id."""
        path = self.place.spec(script=script)
        files = (("repro.py", (path.parent / "repro.py").read_bytes()),)
        asked = Questions(self.later).submit(Submission(path.read_text(), files), Asker("ann"))
        self.work()
        return asked.question.id

    def work(self) -> None:
        """Do everything that is in the queue, and take in what was answered."""
        queue = Queue(self.later, SPAN)
        Worker(self.workshop, queue, LANES, environ=self.place.environ()).work(Stop(), until_idle=True)
        Answers(self.later).take_in()

    def watch(self) -> list[str]:
        """Look at the channel, half an hour later; gives the questions that are asked again."""
        self.later.hand.move(minutes=31)
        return [job.question for job in self.watching.turn()]

    def review(self) -> Review:
        """Have the answer reviewed on the next day."""
        self.later.hand.move(days=1)
        reviews = Reviews(self.later, ReviewRules(rests=0))
        assert len(reviews.pick()) == 1
        self.work()
        (review,) = reviews.conclude()
        return review

    def trials(self) -> int:
        """How many trials are stored."""
        with self.results.engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(tables.trials)).scalar_one()

    def summary(self, question: str) -> str:
        """The first sentence of the present answer."""
        report = Questions(self.results.database).report(question)
        assert report is not None
        return str(report["summary"][0])


@pytest.fixture
def shop(place: Place) -> Iterator[Shop]:
    environ = place.environ()
    workshop = open_workshop(read_settings({}, environ, Path(environ["HOME"])), environ)
    with workshop.results() as results:
        yield Shop(place, workshop, results)


def test_an_open_failure_is_closed_by_a_build_that_fixes_it(shop: Shop) -> None:
    """From what is known: the new builds alone are run."""
    shop.place.publish(history(4, failing([2, 3])))
    question = shop.answer()
    before = shop.trials()
    assert shop.watch() == []
    shop.place.publish(history(6, failing([2, 3, 4])))
    assert shop.watch() == [question]
    shop.work()
    (told,) = Answers(shop.later).history(question)[0].news
    assert isinstance(told, Fixed)
    assert (told.kind, told.last_with, told.first_without) == ("exact", "1.4", "1.5")
    with shop.results.engine.connect() as connection:
        table = tables.trials
        rows = connection.execute(select(table.c.version).where(table.c.id > before).distinct()).scalars()
        assert sorted(rows) == ["1.4", "1.5"]
    assert shop.watch() == []


# What a build does depends on a file besides: nothing that the answer knows of has changed when it does.
SWITCH = """
import pathlib, sys, toy
broken = toy.__version__ >= "1.2" and not pathlib.Path({switch!r}).exists()
sys.exit("gradient is all zero" if broken else 0)
"""


def test_an_answer_is_found_again_and_then_it_is_not(shop: Shop) -> None:
    """Fresh trials of both sides alone; what differs has the question answered again, with the new trials."""
    shop.place.publish(history(5, {}))
    switch = shop.place.root / "switch"
    question = shop.answer(SWITCH.format(switch=str(switch)))
    known = shop.trials()
    answered = last_reports(shop.results, ["toy-spec"])
    review = shop.review()
    assert (review.found.verdict, review.found.checks[0].without, review.found.checks[0].with_) == (
        Verdict.SAME,
        "1.1",
        "1.2",
    )
    assert shop.trials() == known + 6
    assert last_reports(shop.results, ["toy-spec"]) == answered
    switch.touch()
    review = shop.review()
    assert review.found.verdict is Verdict.DIFFERS
    assert review.found.checks[0].note.startswith("1.2: pass")
    asked = Questions(shop.results.database).get(question)
    assert asked is not None
    assert asked.state is QuestionState.QUEUED
    shop.work()
    jobs = Questions(shop.results.database).jobs(question)
    assert [job.purpose for job in jobs] == [Purpose.ANSWER, Purpose.VERIFY, Purpose.VERIFY, Purpose.ANSWER]
    assert "flaky" in shop.summary(question) or "of" in shop.summary(question)
