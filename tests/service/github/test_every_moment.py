"""Killed at each moment from the submission to the record of what was sent, once each: said once, called under one id."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from bisect_tool.service.posts import PostState
from bisect_tool.service.question import Purpose, Question
from bisect_tool.service.talk_settings import Target
from bisect_tool.store.address import file_address
from bisect_tool.store.database import Database, Patience, open_database
from tests.rig.asked import pass_time
from tests.rig.fake_github import FakeGitHub, serve_github
from tests.rig.hook_receiver import HookReceiver, receive_hooks
from tests.rig.mortality import Fate, mortal
from tests.rig.talk_stage import REPOSITORY, Stage, talk_settings
from tests.service.github.test_asking import command, replies
from tests.service.github.test_telling import ISSUE, fixed, still_there

THEIRS = "It fails here too."


@dataclass
class Story:
    """A question is asked, answered and told; then the failure is fixed, and that is told. And somebody asks for help."""

    stage: Stage
    github: FakeGitHub
    receiver: HookReceiver
    fate: Fate

    def play(self, patch: pytest.MonkeyPatch) -> None:
        """All of it; afterwards nothing waits."""
        self.github.add_issue(REPOSITORY, 12)
        self.github.add_comment(REPOSITORY, 12, "somebody", THEIRS)
        command(self.stage, self.github, "/bisect help", issue=13)
        with mortal(self.stage.database, self.fate, patch):
            self._do(lambda: self.stage.ask(issue=ISSUE))
            self._do(lambda: self.stage.answer(still_there()))
            self._do(self.stage.say_all)
            self._do(lambda: self.stage.again(self._question(), Purpose.WATCH))
            self._do(lambda: self.stage.answer(fixed()))
            self._do(self.stage.say_all)

    def _do(self, act: Callable[[], object]) -> None:
        self.fate.survive(act, self._later)

    def _later(self) -> None:
        self.stage.pass_time()
        pass_time(self.stage.database, 1e6)

    def _question(self) -> Question:
        return self.stage.ask(issue=ISSUE)


def told(tmp_path: Path, made: Path, fate: Fate, patch: pytest.MonkeyPatch) -> Story:
    """The story as it went, from an empty database."""
    path = tmp_path / f"{fate.at}.sqlite"
    shutil.copy(made, path)
    database = open_database(file_address(path, is_own=False), nullcontext, Patience())
    try:
        with serve_github() as github, receive_hooks() as receiver:
            settings = talk_settings(github, Target(receiver.url, (b"k" * 32,)))
            story = Story(Stage(hurried(database), settings), github, receiver, fate)
            story.play(patch)
            check(story)
            return story
    finally:
        database.close()


def hurried(database: Database) -> Database:
    """Nothing here has to survive a power cut."""
    with database.engine.connect() as connection:  # the pool keeps it: there is one thread
        connection.exec_driver_sql("PRAGMA synchronous=OFF")
    return database


def check(story: Story) -> None:
    at = story.fate.passed[-1:], len(story.fate.passed)
    theirs, *ours = [one["body"] for one in story.github.comments(REPOSITORY, 12)]
    assert theirs == THEIRS, at
    assert ["and was fixed in 2.15.0" in body for body in ours] == [True], at
    help_texts = [one["body"] for one in story.github.comments(REPOSITORY, 13)][1:]
    assert ["A comment with one of these lines" in body for body in help_texts] == [True], at
    assert [kind for _, _, kind in story.github.reactions] == ["eyes"], at
    assert {post.state for post in story.stage.posts()} == {PostState.SENT}, at
    assert replies(story.github) == ours, at
    heard: dict[str, set[bytes]] = defaultdict(set)
    for delivery in story.receiver.deliveries:
        heard[delivery.headers["webhook-id"]].add(delivery.body)
    assert [len(bodies) for bodies in heard.values()] == [1, 1, 1], at
    kinds = sorted(json.loads(body)["type"] for bodies in heard.values() for body in bodies)
    assert kinds == ["answer.changed", "failure.fixed", "question.answered"], at


def test_killed_at_each_moment_it_is_said_once(
    tmp_path: Path, made_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = told(tmp_path, made_file, Fate(), monkeypatch)
    moments = whole.fate.passed
    assert len(whole.receiver.deliveries) == 3
    assert {"commit", "before POST", "after POST", "before PATCH", "after PATCH", "before GET"} <= set(moments)
    repeated = 0
    for number in range(1, len(moments) + 1):
        story = told(tmp_path, made_file, Fate(number), monkeypatch)
        assert len(story.fate.passed) > number
        repeated += len(story.receiver.deliveries) - 3
    assert repeated == 3 * 2  # killed after the request, and before the commit that notes it: under the same id
