"""What follows from the end of a job, all the way to the comment on the issue."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from bisect_tool.reports.answer import with_summary
from bisect_tool.reports.report import Appeared, Episode, Fixed, Report
from bisect_tool.service.github.marker import mark_of
from bisect_tool.service.github.posting import EDITED
from bisect_tool.service.posts import DAY, PostState
from bisect_tool.service.question import Purpose
from bisect_tool.service.talk_settings import Target
from tests.reports import samples
from tests.rig.fake_github import FakeGitHub, lost_reply
from tests.rig.hook_receiver import receive_hooks
from tests.rig.talk_stage import PAGES, REPOSITORY, Stage

ISSUE = "https://github.com/pytorch/pytorch/issues/12"


def still_there(last: str = "2.15.0") -> Report:
    """`zero-grad` appeared in 2.12.0 and was not fixed up to `last`."""
    episode = Episode(
        appeared=Appeared(kind="exact", last_without="2.11.0", first_with="2.12.0", verified=True),
        fixed=Fixed(kind="open", last_with=last, first_without=None),
    )
    return samples.report(samples.case("inductor", "✓✓✓✓✓AAAAA"), failures=(samples.failure("A", episode),))


def fixed() -> Report:
    """It was fixed in 2.15.0."""
    episode = Episode(
        appeared=Appeared(kind="exact", last_without="2.11.0", first_with="2.12.0", verified=True),
        fixed=Fixed(kind="exact", last_with="2.14.0", first_without="2.15.0", verified=True),
    )
    return samples.report(samples.case("inductor", "✓✓✓✓✓AAAA✓"), failures=(samples.failure("A", episode),))


def unfinished() -> Report:
    return still_there().model_copy(update={"outcome": "unfinished"})


def bodies(github: FakeGitHub) -> list[str]:
    return [one["body"] for one in github.comments(REPOSITORY, 12)]


def test_an_answer_is_one_comment_on_the_issue_that_the_spec_names(stage: Stage, github: FakeGitHub) -> None:
    question = stage.ask(issue=ISSUE)
    stage.answer(still_there())
    stage.say_all()
    (body,) = bodies(github)
    assert body.startswith("### Bisecting\n\n- zero-grad appeared in 2.12.0")
    assert f"{PAGES}{question.id}" in body
    assert stage.say_all() == 0


def test_an_open_failure_that_was_fixed_is_edited_into_the_same_comment(stage: Stage, github: FakeGitHub) -> None:
    question = stage.ask(issue=ISSUE)
    stage.answer(still_there())
    stage.say_all()
    stage.again(question, Purpose.WATCH)
    stage.answer(fixed())
    stage.say_all()
    (body,) = bodies(github)
    assert body.startswith("*The answer has changed since this comment was first written.*\n\n### Bisecting")
    assert "and was fixed in 2.15.0" in body
    assert github.count("create") == github.count("edit") == 1


def test_the_same_answer_again_says_nothing(stage: Stage, github: FakeGitHub) -> None:
    question = stage.ask(issue=ISSUE)
    stage.answer(still_there())
    stage.say_all()
    stage.again(question, Purpose.FRESH)
    stage.answer(still_there().model_copy(update={"elapsed_s": 1.5}))
    stage.say_all()
    assert len(bodies(github)) == 1
    assert github.count("edit") == 0


@pytest.mark.parametrize("make", [samples.unchanged, samples.not_judged, unfinished])
def test_what_is_no_verified_answer_is_not_told(stage: Stage, github: FakeGitHub, make: Callable[[], Report]) -> None:
    stage.ask(issue=ISSUE)
    stage.answer(make())
    stage.say_all()
    assert github.requests == []


def test_an_answer_stays_when_a_later_look_proves_nothing(stage: Stage, github: FakeGitHub) -> None:
    question = stage.ask(issue=ISSUE)
    stage.answer(still_there())
    stage.say_all()
    before = bodies(github)
    stage.again(question, Purpose.WATCH)
    stage.answer(samples.not_judged())
    stage.say_all()
    assert bodies(github) == before


def test_one_more_nightly_with_an_open_failure_is_no_news(stage: Stage, github: FakeGitHub) -> None:
    question = stage.ask(issue=ISSUE)
    stage.answer(still_there())
    stage.say_all()
    stage.again(question, Purpose.WATCH)
    stage.answer(still_there("2.16.0"))
    stage.say_all()
    assert github.count("edit") == 0


def test_an_answer_that_is_only_checked_again_says_nothing(stage: Stage, github: FakeGitHub) -> None:
    question = stage.ask(issue=ISSUE)
    stage.answer(still_there())
    stage.say_all()
    stage.again(question, Purpose.VERIFY)
    stage.answer(fixed())
    stage.say_all()
    assert github.count("edit") == 0


def test_issues_of_other_repositories_and_failures_are_left_alone(stage: Stage, github: FakeGitHub) -> None:
    stage.ask(issue="https://github.com/else/where/issues/12")
    stage.answer(still_there())
    stage.say_all()
    stage.ask(issue=ISSUE, script=b"import toy  # 2\n")
    stage.fail()
    stage.say_all()
    assert github.requests == []


def test_only_those_who_may_name_an_issue_are_listened_to(stage: Stage, github: FakeGitHub) -> None:
    stage.settings = replace(stage.settings, github=replace(stage.settings.github, askers=frozenset({"bob"})))
    stage.ask(issue=ISSUE)  # by ann
    stage.answer(still_there())
    stage.say_all()
    assert github.requests == []


def test_what_ended_long_ago_is_no_news(stage: Stage, github: FakeGitHub) -> None:
    stage.ask(issue=ISSUE)
    stage.answer(still_there())
    stage.age_jobs(8 * DAY)
    stage.say_all()
    assert github.requests == []
    assert stage.posts() == []


def test_a_dry_run_shows_what_it_would_say_and_what_it_would_say_later(stage: Stage, github: FakeGitHub) -> None:
    live = stage.settings
    stage.settings = replace(live, github=replace(live.github, posts=False))
    question = stage.ask(issue=ISSUE)
    stage.answer(still_there())
    stage.say_all()
    (post,) = stage.posts()
    assert (post.state, post.body[:14]) == (PostState.DRY, "### Bisecting\n")
    assert github.requests == []
    stage.settings = live
    stage.say_all()
    assert github.requests == []  # what was said dry stays unsaid
    stage.again(question, Purpose.WATCH)
    stage.answer(fixed())
    stage.say_all()
    assert len(bodies(github)) == 1


def test_after_somebody_edited_it_the_next_changes_go_into_the_new_comment(stage: Stage, github: FakeGitHub) -> None:
    question = stage.ask(issue=ISSUE)
    stage.answer(still_there())
    stage.say_all()
    github.comments(REPOSITORY, 12)[0]["body"] = "I disagree."
    for report in (fixed(), still_there()):
        stage.again(question, Purpose.FRESH)
        stage.answer(report)
        stage.say_all()
    first, second = bodies(github)
    assert first == "I disagree."
    assert second.startswith(EDITED)
    assert "is still there in 2.15.0" in second


def test_two_servers_that_decide_at_once_say_it_once(stage: Stage) -> None:
    stage.ask(issue=ISSUE)
    stage.answer(still_there())
    one, two = stage.talker, stage.talker
    assert (one.teller.tell(), two.teller.tell()) == (1, 0)
    assert len(stage.posts()) == 1


def test_killed_and_lost_again_and_again_it_is_one_comment(stage: Stage, github: FakeGitHub) -> None:
    question = stage.ask(issue=ISSUE)
    stage.answer(still_there())
    github.plant("create", lost_reply())
    for _ in range(4):
        stage.say_all()
        stage.pass_time()
    stage.again(question, Purpose.WATCH)
    stage.answer(fixed())
    github.plant("edit", lost_reply())
    for _ in range(4):
        stage.say_all()
        stage.pass_time()
    (body,) = bodies(github)
    mark = mark_of(body)
    assert mark is not None
    assert mark.is_whole
    assert [post.state for post in stage.posts()] == [PostState.SENT]


def test_webhooks_hear_of_a_fix_after_a_look_that_proved_nothing(stage: Stage) -> None:
    with receive_hooks() as receiver:
        stage.settings = replace(stage.settings, targets=(Target(receiver.url, (b"k" * 32,)),))
        question = stage.ask()
        for report in (still_there(), samples.not_judged(), still_there("2.16.0"), fixed()):
            stage.answer(with_summary(report))
            stage.say_all()
            stage.again(question, Purpose.WATCH)
        types = [json.loads(delivery.body)["type"] for delivery in receiver.deliveries]
    assert types == ["question.answered", "failure.fixed", "answer.changed"]


def test_webhooks_hear_what_happened(stage: Stage) -> None:
    with receive_hooks() as receiver:
        stage.settings = replace(stage.settings, targets=(Target(receiver.url, (b"k" * 32,)),))
        question = stage.ask()
        stage.answer(still_there())
        stage.say_all()
        stage.again(question, Purpose.WATCH)
        stage.answer(with_summary(fixed()))
        stage.say_all()
        stage.ask(script=b"import toy  # 2\n")
        stage.fail("no such package")
        stage.say_all()
        bodies = [json.loads(delivery.body) for delivery in receiver.deliveries]
    assert [body["type"] for body in bodies] == [
        "question.answered",
        "failure.fixed",
        "answer.changed",
        "question.failed",
    ]
    first, second, _, failed = bodies
    assert first["schema_version"] == 1
    assert first["data"]["question"]["page"] == f"{PAGES}{question.id}"
    assert first["data"]["verified"] is True
    assert first["data"]["failures"][0]["episodes"][0]["fixed"]["kind"] == "open"
    assert second["data"]["failures"][0]["episodes"][0]["fixed"]["first_without"] == "2.15.0"
    assert failed["data"]["error"]["what"] == "no such package"
    assert failed["data"]["failures"] == []


def test_jobs_that_were_told_are_not_looked_at_for_ever(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisect_tool.service.telling.MARGIN", 1)
    teller = stage.talker.teller
    waiting = [stage.ask(script=f"import toy  # {number}\n".encode()) for number in range(4)]
    stage.questions.cancel(waiting[0].id)
    stage.questions.cancel(waiting[1].id)
    assert (teller.tell(), teller.tell()) == (2, 0)
    stage.questions.cancel(waiting[3].id)
    assert (teller.tell(), teller.tell()) == (1, 0)
    assert teller._floor < stage.questions.jobs(waiting[2].id)[0].id
    stage.questions.cancel(waiting[2].id)
    assert (teller.tell(), teller.tell()) == (1, 0)
    assert teller._floor == stage.questions.jobs(waiting[3].id)[0].id
