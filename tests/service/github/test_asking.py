"""From a command in a comment to the answer on the issue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bisect_tool.service.asking import AskedState, Asking
from bisect_tool.service.posts import PostState
from bisect_tool.service.question import Purpose, QuestionState
from bisect_tool.service.receiving import keep
from tests.reports import samples
from tests.rig.fake_github import US, FakeGitHub
from tests.rig.talk_stage import REPOSITORY, Stage
from tests.service.github.test_telling import fixed, still_there

SCRIPT = """\
It fails in 2.13.0 and works in 2.12.1.

```python
import torch

x = torch.arange(3)
assert (x + 1).sum() == 6
raise RuntimeError("gradient is all zero")
```

```
RuntimeError: gradient is all zero
```
"""
IMPORTS = "```python\nimport torch\nimport {0}\n{0}.run(torch.ones(2))\nraise ValueError\n```"


def command(
    stage: Stage, github: FakeGitHub, text: str = "/bisect", body: str = SCRIPT, issue: int = 12, **more: Any
) -> int:
    """Somebody writes a comment on an issue, and GitHub delivers it; gives the id of the comment."""
    github.add_issue(REPOSITORY, issue, "All-zero gradient", body, **more)
    comment = github.add_comment(
        REPOSITORY, issue, "ann", text, author_association="MEMBER", user={"login": "ann", "type": "User"}
    )
    content = {
        "action": "created",
        "issue": github.issues[REPOSITORY, issue],
        "comment": comment,
        "repository": {"full_name": REPOSITORY},
        "sender": comment["user"],
    }
    delivered = keep(stage.database, stage.settings.github, "issue_comment", str(comment["id"]), content)
    assert delivered.outcome == "asked"
    return int(comment["id"])


def replies(github: FakeGitHub) -> list[str]:
    return [one["body"] for one in github.comments(REPOSITORY, 12) if one["user"]["login"] == US]


def test_a_command_becomes_a_question_and_its_answer_a_comment(stage: Stage, github: FakeGitHub) -> None:
    comment = command(stage, github, "/bisect --to 2.15 device=cpu python=3.12")
    stage.say_all()
    assert github.reactions == [(comment, US, "eyes")]
    assert replies(github) == []
    (row,) = stage.commands()
    question = stage.questions.get(row["question"])
    assert question is not None
    assert question.state is QuestionState.QUEUED
    assert (question.owner, question.issue) == ("github:ann", "https://github.com/pytorch/pytorch/issues/12")
    assert question.source == f"https://github.com/pytorch/pytorch/issues/12#issuecomment-{comment}"
    assert 'to: "2.15"' in question.spec
    assert 'from: "2.12.1"' in question.spec
    assert "device: [cpu]" in question.spec
    assert 'python: "3.12"' in question.spec
    stage.answer(still_there())
    stage.say_all()
    (body,) = replies(github)
    assert body.startswith("### Bisecting\n\n- zero-grad appeared in 2.12.0")
    assert "What the draft of the spec made of this issue" in body
    assert "- to: 2.15, found: \\`/bisect\\` says so" in body
    assert f"(https://redirect.github.com/pytorch/pytorch/issues/12#issuecomment-{comment})" in body
    assert stage.say_all() == 0


def test_what_was_answered_before_is_answered_at_once(stage: Stage, github: FakeGitHub) -> None:
    command(stage, github)
    stage.say_all()
    stage.answer(still_there())
    stage.say_all()
    command(stage, github, issue=13)
    stage.say_all()
    assert [one["body"][:13] for one in github.comments(REPOSITORY, 13)] == ["/bisect", "### Bisecting"]


@pytest.mark.parametrize("purpose", [Purpose.VERIFY, Purpose.WATCH])
def test_an_answer_that_is_being_checked_is_told_all_the_same(
    stage: Stage, github: FakeGitHub, purpose: Purpose
) -> None:
    command(stage, github)
    stage.say_all()
    stage.answer(still_there())
    stage.say_all()
    question = stage.questions.get(stage.commands()[0]["question"])
    assert question is not None
    stage.again(question, purpose)
    command(stage, github, issue=13)
    stage.say_all()
    assert [one["body"][:13] for one in github.comments(REPOSITORY, 13)] == ["/bisect", "### Bisecting"]


def test_whoever_heard_that_there_is_no_answer_hears_of_another_reason(stage: Stage, github: FakeGitHub) -> None:
    command(stage, github)
    stage.say_all()
    stage.fail("no such package")
    stage.say_all()
    assert [body.splitlines()[0] for body in replies(github)] == ["The search could not be done:"]
    stage.retry()
    stage.answer(samples.not_judged())
    stage.say_all()
    assert [body.splitlines()[0] for body in replies(github)] == ["Too few builds could be tested to say anything:"]


def test_asked_twice_on_one_issue_it_is_one_comment(stage: Stage, github: FakeGitHub) -> None:
    first = command(stage, github)
    second = command(stage, github)
    stage.say_all()
    stage.answer(still_there())
    stage.say_all()
    assert len(replies(github)) == 1
    assert {number for number, _, _ in github.reactions} == {first, second}


def test_whoever_asks_again_after_the_answer_was_deleted_is_answered(stage: Stage, github: FakeGitHub) -> None:
    command(stage, github)
    stage.say_all()
    stage.answer(still_there())
    stage.say_all()
    github.written.clear()
    stage.retry()
    stage.answer(fixed())
    stage.say_all()
    assert replies(github) == []
    command(stage, github)
    stage.say_all()
    (body,) = replies(github)
    assert "and was fixed in 2.15.0" in body
    stage.retry()
    stage.answer(still_there())
    stage.say_all()
    (body,) = replies(github)
    assert body.startswith("*The answer has changed since this comment was first written.*")
    assert "zero-grad appeared in 2.12.0 and is still there in 2.15.0" in body


@pytest.mark.parametrize(
    ("text", "body", "reply"),
    [
        ("/bisect --form 2.1", SCRIPT, "`form` is no option; did you mean `from`?"),
        ("/bisect help", SCRIPT, "A comment with one of these lines makes me search"),
        ("/bisect", "It is broken.", "no code in this report can be run as a script"),
        ("/bisect", "", "the issue has no text"),
        ("/bisect", IMPORTS.format("utils"), "- the code imports \\`utils\\`, a file that the report does not have"),
        ("/bisect", IMPORTS.format("my_models"), "- the code imports \\`my-models\\`, a package that is not installed"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_answered_kindly(
    stage: Stage, github: FakeGitHub, text: str, body: str, reply: str
) -> None:
    command(stage, github, text, body)
    stage.say_all()
    (said,) = replies(github)
    assert reply in said
    assert stage.commands()[0]["state"] == AskedState.REFUSED
    assert stage.say_all() == 0


def test_pull_requests_have_no_report(stage: Stage, github: FakeGitHub) -> None:
    command(stage, github, pull_request={"url": "x"})
    stage.say_all()
    assert replies(github)[0].startswith("`/bisect` works on issues")


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (samples.unchanged(), "Every build that could be tested behaves the same:"),
        (samples.not_judged(), "Too few builds could be tested to say anything:"),
    ],
)
def test_whoever_asked_hears_that_there_is_no_answer(stage: Stage, github: FakeGitHub, report: Any, said: str) -> None:
    command(stage, github)
    stage.say_all()
    stage.answer(report)
    stage.say_all()
    (body,) = replies(github)
    assert body.startswith(said)


def test_whoever_asked_hears_what_went_wrong(stage: Stage, github: FakeGitHub) -> None:
    command(stage, github)
    stage.say_all()
    stage.fail("no build of torch has 3.4")
    stage.say_all()
    (body,) = replies(github)
    assert "no build of torch has 3.4" in body
    assert "What to do next: correct the spec" in body


def test_a_search_that_is_called_off_says_so(stage: Stage, github: FakeGitHub) -> None:
    command(stage, github)
    stage.say_all()
    stage.questions.cancel(stage.commands()[0]["question"])
    stage.say_all()
    assert "The search was called off." in replies(github)[0]


def test_killed_between_any_two_steps_it_is_answered_once(stage: Stage, github: FakeGitHub) -> None:
    """Each server is killed after it has taken a command, submitted it, or noted it; the next one goes on."""
    command(stage, github)
    asking = stage.talker.asking
    assert asking._take() is not None  # and killed
    stage.pass_time()
    with pytest.raises(SystemExit):
        _Dying(asking.questions, asking.teller).work()  # submitted, and killed before it was noted
    stage.pass_time()
    assert stage.talker.asking.work()  # accepted, and killed before it was settled
    stage.answer(still_there())
    assert stage.say_all() > 0
    assert len(stage.questions.jobs(stage.commands()[0]["question"])) == 1
    assert len(replies(github)) == 1
    assert len(github.reactions) == 1
    stage.pass_time()
    assert stage.say_all() == 0


def test_an_answer_that_comes_between_accepting_and_settling_is_told_once(stage: Stage, github: FakeGitHub) -> None:
    command(stage, github)
    assert stage.talker.asking.work()
    stage.answer(still_there())
    talker = stage.talker
    assert talker.teller.tell() == 1
    assert talker.asking.work()
    stage.say_all()
    assert len(replies(github)) == 1


def test_a_defect_in_a_rule_is_said_and_ends(stage: Stage, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("bisect_tool.service.asking.draft_question", stumble)
    command(stage, github)
    stage.say_all()
    assert "a defect of mine" in replies(github)[0]


def test_a_dry_run_answers_nobody_and_keeps_the_replies(stage: Stage, github: FakeGitHub) -> None:
    stage.settings = replace(stage.settings, github=replace(stage.settings.github, posts=False))
    command(stage, github, "/bisect help")
    command(stage, github)
    stage.say_all()
    stage.answer(fixed())
    stage.say_all()
    assert github.requests == []
    assert {post.state for post in stage.posts()} == {PostState.DRY}
    assert [post.kind for post in stage.posts()] == ["reaction", "reply", "reaction", "comment"]


class _Dying(Asking):
    """Killed when a question was submitted and is to be noted."""

    def _accept(self, *_: object) -> None:
        raise SystemExit
