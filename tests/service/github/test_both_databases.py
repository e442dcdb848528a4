"""From a command to a comment that is edited, on each kind of database."""

from __future__ import annotations

from dataclasses import replace

from bisect_tool.service.posts import PostState
from bisect_tool.service.question import Purpose
from bisect_tool.service.talk_settings import Target
from bisect_tool.store.database import Database
from tests.rig.fake_github import FakeGitHub
from tests.rig.hook_receiver import receive_hooks
from tests.rig.talk_stage import Stage, talk_settings
from tests.service.github.test_asking import command, replies
from tests.service.github.test_telling import fixed, still_there


def test_from_a_command_to_an_edited_comment(database: Database, github: FakeGitHub) -> None:
    with receive_hooks() as receiver:
        stage = Stage(database, talk_settings(github, Target(receiver.url, (b"k" * 32,)), daily=1))
        command(stage, github)
        stage.say_all()
        stage.answer(still_there())
        stage.say_all()
        question = stage.questions.get(stage.commands()[0]["question"])
        assert question is not None
        stage.again(question, Purpose.WATCH)
        stage.answer(fixed())
        stage.say_all()
        command(stage, github, "/bisect help")
        stage.say_all()
        assert len(receiver.deliveries) == 3
    (body,) = replies(github)
    assert "and was fixed in 2.15.0" in body
    waiting = [post for post in stage.posts() if post.state is PostState.WAITING]
    assert [post.kind for post in waiting] == ["reply"]  # the cap of the day
    stage.settings = replace(stage.settings, github=replace(stage.settings.github, daily=2))
    stage.pass_time()
    stage.say_all()
    assert len(replies(github)) == 2
