from __future__ import annotations

from bisect_tool.reports import events
from bisect_tool.reports.batch.progress import AT_ONCE, EVERY, Picture, PlainView
from tests.reports import samples
from tests.reports.batch.lines import fault, line

DONE = line("x", samples.exact())


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def view() -> tuple[PlainView, Clock, list[str]]:
    clock, said = Clock(), list[str]()
    return PlainView(said.append, clock), clock, said


def test_hundreds_of_specs_are_one_line() -> None:
    plain, clock, said = view()
    plain.began(300)
    for number in range(300):
        plain.ended(DONE.model_copy(update={"name": f"s{number}"}))
    assert said == []
    clock.now = EVERY
    plain(events.TrialFinished("1.0", "a", "pass", None, 1.0, stored=False))
    assert len(said) == 1
    assert "300 of 300 specs done" in said[0]
    assert "1 trial, 0 builds installed" in said[0]


def test_a_few_are_told_one_by_one() -> None:
    plain, _, said = view()
    plain.began(9)
    for number in range(AT_ONCE - 1):
        plain.ended(DONE.model_copy(update={"name": f"s{number}"}))
    plain.ended(fault("bad"))
    plain.finished()
    assert len(said) == AT_ONCE + 1
    assert "bad: no answer: no builds" in said[-2]
    assert "1 without an answer" in said[-1]


def test_what_went_wrong_is_told_at_once() -> None:
    plain, _, said = view()
    plain(events.Notice("the disk is nearly full"))
    assert "the disk is nearly full" in said[0]


def test_the_picture_says_how_far_it_is() -> None:
    plain, _, _ = view()
    plain.began(2)
    plain.ended(DONE)
    plain(events.TrialStarted("1.3", "a", "search", 60.0))
    texts = [str(part) for part in Picture(plain.tally).__rich__().renderables]
    assert "1 of 2 specs done" in texts[0]
    assert "running a on 1.3" in texts[1]
