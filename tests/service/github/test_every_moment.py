"""Killed at each moment from the submission to the record of what was sent, once each: said once, called under one id."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from bisect_tool.service.posts import PostState
from bisect_tool.service.question import Purpose, Question
from bisect_tool.service.talk_settings import Target
from bisect_tool.store.database import Database
from tests.rig.asked import SCRIPT, pass_time
from tests.rig.fake_github import US, FakeGitHub
from tests.rig.hook_receiver import HookReceiver, receive_hooks
from tests.rig.mortality import Fate, mortal
from tests.rig.talk_stage import REPOSITORY, Stage, talk_settings
from tests.service.github.test_asking import command
from tests.service.github.test_telling import fixed, still_there

THEIRS = "It fails here too."
EVENTS = ["answer.changed", "failure.fixed", "question.answered"]


@dataclass
class Story:
    """A question is asked, answered and told; then the failure is fixed, and that is told. And somebody asks for help.

    Each has a `number` of its own, which is that of its issue.
    """

    stage: Stage
    github: FakeGitHub
    receiver: HookReceiver
    number: int
    fate: Fate

    def play(self, patch: pytest.MonkeyPatch) -> None:
        """All of it; afterwards nothing waits."""
        self.github.add_issue(REPOSITORY, self.number)
        self.github.add_comment(REPOSITORY, self.number, "somebody", THEIRS)
        command(self.stage, self.github, "/bisect help", issue=self.number + 1000)
        with mortal(self.stage.database, self.fate, patch):
            self._do(self.ask)
            self._do(lambda: self.stage.answer(still_there()))
            self._do(self.stage.say_all)
            self._do(lambda: self.stage.again(self.ask(), Purpose.WATCH))
            self._do(lambda: self.stage.answer(fixed()))
            self._do(self.stage.say_all)

    def ask(self) -> Question:
        """The question; asked again it is the same."""
        issue = f"https://github.com/{REPOSITORY}/issues/{self.number}"
        return self.stage.ask(issue=issue, script=SCRIPT + f"# {self.number}\n".encode())

    def check(self) -> int:
        """Look at what others have heard; gives how many deliveries came again."""
        at = (self.fate.at, self.fate.passed)
        assert self.said(self.number, "somebody") == [THEIRS], at
        assert ["and was fixed in 2.15.0" in body for body in self.said(self.number)] == [True], at
        helped = self.said(self.number + 1000)
        assert ["A comment with one of these lines" in body for body in helped] == [True], at
        assert {post.state for post in self.stage.posts()} == {PostState.SENT}, at
        return self._check_deliveries(self.ask().id, at)

    def said(self, issue: int, login: str = US) -> list[str]:
        """The comments of somebody on an issue."""
        return [one["body"] for one in self.github.comments(REPOSITORY, issue) if one["user"]["login"] == login]

    def _check_deliveries(self, question: str, at: object) -> int:
        heard: dict[str, list[bytes]] = defaultdict(list)
        for delivery in self.receiver.deliveries:
            if json.loads(delivery.body)["data"]["question"]["id"] == question:
                heard[delivery.headers["webhook-id"]].append(delivery.body)
        assert [len(set(bodies)) for bodies in heard.values()] == [1, 1, 1], at
        assert sorted(json.loads(bodies[0])["type"] for bodies in heard.values()) == EVENTS, at
        return sum(len(bodies) - 1 for bodies in heard.values())

    def _do(self, act: Callable[[], object]) -> None:
        self.fate.survive(act, self._later)

    def _later(self) -> None:
        self.stage.pass_time()
        pass_time(self.stage.database, 1e4)


@pytest.fixture
def tell(
    file_database: Database, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Fate], Story]]:
    """Plays a story with a fate, each with another issue of the same GitHub."""
    with receive_hooks() as receiver:
        stage = Stage(file_database, talk_settings(github, Target(receiver.url, (b"k" * 32,)), daily=1000))

        def tell(fate: Fate) -> Story:
            story = Story(stage, github, receiver, 100 + (fate.at or 0), fate)
            story.play(monkeypatch)
            return story

        yield tell


def test_killed_at_each_moment_it_is_said_once(tell: Callable[[Fate], Story]) -> None:
    whole = tell(Fate())
    assert whole.check() == 0
    moments = whole.fate.passed
    assert (moments.count("after PATCH"), moments.count("after POST")) == (1, 1 + 1 + 1 + 3)
    repeated = 0
    for number in range(1, len(moments) + 1):
        story = tell(Fate(number))
        assert len(story.fate.passed) > number  # that one was killed, and another one went on
        repeated += story.check()
    # Three deliveries, each of a server that is killed after the request, and of one that is before the commit that notes it.
    assert repeated == 3 * 2
    assert len(whole.github.reactions) == len(moments) + 1
