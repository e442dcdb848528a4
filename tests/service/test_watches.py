"""Open failures are looked at again when new builds come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from bisect_tool.reports.report import Report
from bisect_tool.service.answer_news import Appeared, Fixed
from bisect_tool.service.answers import Answers
from bisect_tool.service.calendar import Day, Standing, read_calendar
from bisect_tool.service.question import Asker, Purpose
from bisect_tool.service.streams import StreamKey, Streams
from bisect_tool.service.watches import PRIORITY, Watches, Watching, WatchRules
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.results import Results, Subject
from tests.rig.answers import answer
from tests.rig.service_scene import NOON, Scene, ScriptedChannel, scene

ASKER = Asker("somebody")
RULES = WatchRules(every=1800, jitter=0, lasts=180 * 86_400)


def nightly(strip: str, **more: Any) -> Report:
    return answer(strip, channel="nightly", **more)


@dataclass
class Place:
    """A scene with a channel that is watched."""

    scene: Scene
    channel: ScriptedChannel

    def __post_init__(self) -> None:
        database = self.scene.database
        self.answers = Answers(database)
        self.watches = Watches(database, RULES)
        self.watching = Watching(self.watches, Streams(database), self.channel, Random(1))

    def turn(self) -> list[str]:
        """Take in what was answered and look at what is due; gives the questions that are asked again."""
        self.answers.take_in()
        return [job.question for job in self.watching.turn()]

    def later(self) -> list[str]:
        """The same half an hour later."""
        self.scene.hand.move(minutes=31)
        return self.turn()


@pytest.fixture
def place(own_address: StoreAddress) -> Iterator[Place]:
    with scene(own_address) as made:
        yield Place(made, ScriptedChannel())


@pytest.fixture
def shared_place(address: StoreAddress) -> Iterator[Place]:
    """The same on a database of each kind."""
    with scene(address) as made:
        yield Place(made, ScriptedChannel())


def test_a_new_build_fixes_an_open_failure(shared_place: Place) -> None:
    place = shared_place
    place.channel.publish("aaa")
    question = place.scene.answered(nightly("✓AA"))
    assert place.turn() == []
    assert place.later() == []
    place.channel.publish("b", first=3)
    assert place.later() == [question]
    assert place.turn() == []  # it is in the queue already
    place.scene.hand.move(minutes=1)
    run = place.scene.finish(nightly("✓AA✓"), Purpose.WATCH)
    assert place.later() == []
    last, first = place.answers.history(question)
    assert last.news == (
        Fixed(failure="=zero-grad", name="zero-grad", case="repro", kind="exact", last_with="1.2", first_without="1.3"),
    )
    assert (last.run, last.before, last.purpose, last.open) == (run, first.run, Purpose.WATCH, 0)
    assert place.answers.report(first.run) == nightly("✓AA")
    found = place.scene.questions.get(question)
    assert found is not None
    assert found.run == run
    place.channel.publish("c", first=4)
    assert place.later() == []  # nothing is open any more


def test_what_is_new_is_told_once(shared_place: Place) -> None:
    place = shared_place
    from bisect_tool.service.event_log import EventLog

    place.channel.publish("aa")
    question = place.scene.answered(nightly("✓A"))
    place.turn()
    place.channel.publish("bb", first=2)
    place.later()
    place.scene.finish(nightly("✓AAB"), Purpose.WATCH)
    (taken,) = place.answers.take_in()
    assert [type(one).__name__ for one in taken.news] == ["Changed", "Appeared"]
    assert isinstance(taken.news[1], Appeared)
    assert place.answers.take_in() == []
    told = [one for one in EventLog(place.scene.database).after(0) if one.kind.startswith("failure_")]
    assert [(one.kind, one.question, one.body["name"]) for one in told] == [
        ("failure_changed", question, "zero-grad"),
        ("failure_appeared", question, "lowering-error"),
    ]


def test_an_answer_of_before_the_newest_build_is_asked_again_at_the_first_look(place: Place) -> None:
    place.channel.publish("aaaa")
    question = place.scene.answered(nightly("✓A"))
    place.scene.hand.move(days=1)
    assert place.turn() == [question]


def test_work_for_another_reason_does_not_hide_a_new_build(place: Place) -> None:
    place.channel.publish("aa")
    question = place.scene.answered(nightly("✓A"))
    assert place.turn() == []
    place.channel.publish("b", first=2)
    place.scene.queue.add(question, Purpose.VERIFY, ASKER, 0, "cpu")
    assert place.later() == []  # somebody works on it
    place.scene.hand.move(minutes=1)
    place.scene.finish(nightly("✓A"), Purpose.VERIFY)
    assert place.later() == [question]


def test_a_job_that_watches_comes_after_everybody_else(place: Place) -> None:
    place.channel.publish("aaaa")
    question = place.scene.answered(nightly("✓A"))
    place.scene.hand.move(days=1)
    place.turn()
    (job,) = [job for job in place.scene.questions.jobs(question) if job.purpose is Purpose.WATCH]
    assert (job.priority, job.lane, job.owner) == (PRIORITY, "cpu", "watches")


def test_an_answer_that_was_cut_short_does_not_take_the_place_of_one(place: Place) -> None:
    place.channel.publish("aaa")
    question = place.scene.answered(nightly("✓A"))
    place.scene.hand.move(days=1)
    place.turn()
    before = place.scene.questions.get(question)
    taken = place.scene.take(Purpose.WATCH)
    cut = place.scene.keep(nightly("✓A·", outcome="unfinished"))
    place.scene.queue.fail(taken, {"status": 10, "what": "a mistake", "where": None, "advice": ""}, cut, "unfinished")
    after = place.scene.questions.get(question)
    assert before is not None
    assert after is not None
    assert (after.run, after.outcome, after.state) == (before.run, before.outcome, before.state)
    assert place.later() == []
    assert len(place.answers.history(question)) == 1


def test_a_nightly_that_was_replaced_has_the_question_asked_again(shared_place: Place) -> None:
    place = shared_place
    place.channel.publish("aaa")
    question = place.scene.answered(nightly("✓AA"))
    assert place.turn() == []
    place.channel.publish("z", first=1)
    assert place.later() == [question]
    (day,) = [one for one in calendar(place) if one.builds and one.builds[0].build == "1.1"]
    assert day.builds[0].replaced == 1


def test_a_nightly_that_is_missing_or_broken_is_in_the_calendar(place: Place) -> None:
    place.channel.publish("a?aa")
    question = place.scene.answered(nightly("✓·A?"))
    place.turn()
    broken = Subject(f"sha256:{'a' * 64}", "setting", "cpu")
    Results(place.scene.database).add_unusable(broken, "toy", "1.3", "it does not import")
    days = {one.day.day: one for one in calendar(place) if one.standing is not Standing.NONE}
    assert {day: one.standing.value for day, one in days.items()} == {
        1: "there",
        2: "missing",
        3: "there",
        4: "broken",
    }
    (build,) = days[4].builds
    assert (build.faults, [(use.question, use.state) for use in build.uses]) == (
        ("it does not import",),
        [(question, "untestable")],
    )
    assert days[2].left_out == (("1.1", "missing"),)


def test_a_build_that_leaves_the_listing_is_gone(place: Place) -> None:
    place.channel.publish("aaa")
    place.scene.answered(nightly("✓AA"))
    place.turn()
    del place.channel.builds["1.2"]
    place.later()
    assert [one.status for day in calendar(place) for one in day.builds] == ["listed", "listed", "gone"]


def test_a_channel_that_does_not_answer_is_asked_more_and_more_rarely(place: Place) -> None:
    place.channel.is_down = True
    place.scene.answered(nightly("✓AA"))
    looked = []
    for half_hour in range(30):
        before = len(place.channel.looks)
        place.turn()
        looked += [half_hour] if len(place.channel.looks) > before else []
        place.scene.hand.move(minutes=30)
    assert looked == [0, 2, 6, 14, 26]  # at most six hours apart
    stream = read_calendar(place.scene.database, "toy", "nightly", NOON.date(), NOON.date()).stream
    assert stream.error == "the index does not answer"
    place.channel.is_down = False
    place.channel.publish("aa")
    place.scene.hand.move(hours=6)
    place.turn()
    assert read_calendar(place.scene.database, "toy", "nightly", NOON.date(), NOON.date()).stream.error is None


def test_one_look_serves_all_questions_of_a_stream(place: Place) -> None:
    place.channel.publish("aaaa")
    for name in ("one", "two"):
        place.scene.answered(nightly("✓A"), name)
    place.scene.answered(nightly("✓A"), "three", 'python: "3.12"\n')
    place.scene.answered(nightly("✓A✓"), "closed")
    place.scene.hand.move(days=1)
    assert len(place.turn()) == 3
    assert place.channel.looks == [
        StreamKey("toy", "nightly"),
        StreamKey("toy", "nightly", python="3.12"),
    ]


def test_open_failures_are_watched_for_half_a_year_since_the_last_news(shared_place: Place) -> None:
    place = shared_place
    question = place.scene.answered(nightly("✓A"))
    place.answers.take_in()
    place.scene.hand.move(days=100)
    assert place.watches.of(question).is_on
    place.scene.questions.retry(question, ASKER, fresh=False)
    place.scene.finish(nightly("✓AB"))
    place.answers.take_in()
    place.scene.hand.move(days=179)
    watch = place.watches.of(question)
    assert (watch.is_on, watch.open, watch.chosen) == (True, 1, None)
    assert watch.until == pytest.approx(NOON.timestamp() + 280 * 86_400)
    place.scene.hand.move(days=2)
    assert not place.watches.of(question).is_on


def test_somebody_may_say_what_is_watched(shared_place: Place) -> None:
    place = shared_place
    question = place.scene.answered(nightly("✓A"))
    place.answers.take_in()
    assert not place.watches.choose(question, is_watched=False).is_on
    assert place.watches.watched() == []
    chosen = place.watches.choose(question, is_watched=True)
    place.scene.hand.move(days=1000)
    assert (chosen.until, place.watches.of(question).is_on) == (None, True)
    assert not place.watches.choose(question, is_watched=None).is_on
    with pytest.raises(LookupError):
        place.watches.of("q0")


def test_a_comparison_with_the_end_of_the_range_is_not_watched(place: Place) -> None:
    metric = "metrics: [{name: duration_s, ratio: 1.1, reference: to}]\n"
    question = place.scene.answered(nightly("✓A"), more=metric)
    place.answers.take_in()
    assert not place.watches.of(question).is_on


def calendar(place: Place) -> tuple[Day, ...]:
    return read_calendar(place.scene.database, "toy", "nightly", NOON.date().replace(day=1), NOON.date()).days
