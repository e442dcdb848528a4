from __future__ import annotations

from dataclasses import replace

from bisect_tool.service.finding import Answer, By, End, Episode, Finding, Found, Match
from bisect_tool.service.pages.known_answers import known_answers

EPISODE = Episode(End("exact", "1.2", "1.3", verified=True), End("open", "1.9", None))
ANSWER = Answer(
    match=Match.FAILURE, score=1.0, failure="zero", identity="i", case="main", title="zero", kind="exception", spec="toy-spec",
    spec_title="", issue=None, package="toy", channel="release", device="cpu", python="3.11", first="1.0", last="1.9",
    outcome="exact", finished=True, episodes=(EPISODE,), summary=(), run="r", ended="2026-11-30", repeat="bisect run",
    page="/q/q1",
)  # fmt: skip


def found(*answers: Answer, shown: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    finding = Finding("zero", By.TEXT, Found.YES, answers=answers)
    return [(one.how.word, one.page) for one in known_answers(finding, shown)]


def test_only_what_has_a_page_and_is_not_in_the_list_anyway() -> None:
    assert found(ANSWER, replace(ANSWER, page=None), replace(ANSWER, page="/q/q2"), shown=("q2",)) == [
        ("the same", "/q/q1")
    ]


def test_what_shares_few_words_is_left_out() -> None:
    near = replace(ANSWER, match=Match.NEAR, score=0.7)
    assert found(near, replace(near, score=0.3), replace(ANSWER, match=Match.PACKAGE)) == [("similar", "/q/q1")]


def test_since_when_and_until_when() -> None:
    (shown,) = known_answers(Finding("zero", By.TEXT, Found.YES, answers=(ANSWER,)), ())
    assert shown.history == (
        "Appeared in 1.3; last without it: 1.2 (exact, verified)",
        "Still there in 1.9, the newest build that was judged",
    )
