"""Whatever breaks in whatever order: in the end there is one comment, with the newest answer, and nobody's words are lost."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from bisect_tool.service.github.client import GitHubClient
from bisect_tool.service.github.credentials import TokenCredentials
from bisect_tool.service.github.marker import mark_of, marked
from bisect_tool.service.github.posting import GitHubSender
from bisect_tool.service.posts import LeaseOver, NewPost, Post, PostKind, Posts, PostState, key_of
from bisect_tool.store.database import Database
from tests.rig import fake_github
from tests.rig.fake_github import TOKEN, FakeGitHub, Fault
from tests.rig.talk_stage import REPOSITORY, Stage, talk_settings

STEPS = 25
KEY = key_of("answer", "q1")
FAULTS: tuple[Callable[[], Fault], ...] = (
    fake_github.lost_reply,
    fake_github.lost_request,
    fake_github.server_error,
    lambda: fake_github.server_error(is_done=True),
    lambda: fake_github.secondary_limit(60),
    fake_github.unsaid_limit,
)


class Killed(BaseException):
    """kill -9: nothing that comes after it is done."""


class Dying(Posts):
    """The outbox of a server that is killed when it wants to note the next thing."""

    def sent(self, post: Post, remote: str | None) -> None:
        raise Killed(post.key, remote)

    def later(self, post: Post, seconds: float, why: str, *, counts: bool = True) -> None:
        raise Killed(post.key, seconds, why, counts)


class Chaos:
    """Answers change, servers are killed, requests and replies are lost, by the seed."""

    def __init__(self, stage: Stage, github: FakeGitHub, seed: int) -> None:
        self.stage, self.github, self.dice = stage, github, random.Random(seed)
        self.newest = 0
        self.late: list[Post] = []  # taken by servers that are slow, and wake up after their time

    def step(self) -> None:
        """One thing happens."""
        self.dice.choice(
            [self.change, self.send, self.send, self.break_github, self.die, self.sleep_in, self.wake_up]
        )()
        self.stage.pass_time(self.dice.choice([0.0, 1e6]))

    def change(self) -> None:
        """The answer changes."""
        self.newest += 1
        self.stage.database.write(lambda connection: self._posts().add(connection, self._new()))

    def send(self) -> None:
        """A server that was just started sends what waits."""
        self._send(self._posts(), self._posts().take())

    def die(self) -> None:
        """A server is killed between sending and noting."""
        self._send(Dying(self.stage.database), self._posts().take())

    def sleep_in(self) -> None:
        """A server takes a post and is stopped before it does anything."""
        self.late += [post for post in [self._posts().take()] if post is not None]

    def wake_up(self) -> None:
        """It goes on, and does not know how late it is."""
        if self.late:
            self._send(self._posts(), self.late.pop())

    def break_github(self) -> None:
        """The next request of some kind goes wrong."""
        self.github.plant(self.dice.choice(["list", "create", "edit"]), self.dice.choice(FAULTS)())

    def settle(self) -> None:
        """Nothing breaks any more, and there is time."""
        self.github.faults.clear()
        self.change()
        for _ in range(5):
            self.stage.pass_time()
            self.send()

    def _new(self) -> NewPost:
        text = f"Answer {self.newest}."
        return NewPost(KEY, PostKind.COMMENT, f"{REPOSITORY}#12", "q1", text, key_of(text))

    def _posts(self) -> Posts:
        return Posts(self.stage.database)

    def _send(self, posts: Posts, post: Post | None) -> None:
        if post is None:
            return
        client = GitHubClient(TokenCredentials(TOKEN), self.github.url)
        try:
            GitHubSender(posts, self.stage.settings.github, client, lambda _: None).send(post)
        except (Killed, LeaseOver):
            return


@pytest.mark.parametrize("seed", range(12))
def test_in_the_end_there_is_one_comment(file_database: Database, github: FakeGitHub, seed: int) -> None:
    stage = Stage(file_database, talk_settings(github, daily=1000))
    theirs = github.add_comment(REPOSITORY, 12, "somebody", marked("Answer 1.", KEY))["body"]
    chaos = Chaos(stage, github, seed)
    for _ in range(STEPS):
        chaos.step()
    chaos.settle()
    first, *ours = github.comments(REPOSITORY, 12)
    assert first["body"] == theirs
    assert [one["body"] for one in ours] == [marked(f"Answer {chaos.newest}.", KEY)]
    assert [post.state for post in stage.posts()] == [PostState.SENT]


def test_chaos_does_break_things(file_database: Database, github: FakeGitHub) -> None:
    """That the test above can fail: a sender that does not look first says it twice."""
    stage = Stage(file_database, talk_settings(github, daily=1000))
    github.plant("create", fake_github.lost_reply())
    chaos = Chaos(stage, github, 0)
    chaos.change()
    chaos.send()
    hidden, github.written[:] = list(github.written), []  # as if the look found nothing
    stage.pass_time()
    chaos.send()
    assert len([one for one in (*hidden, *github.written) if mark_of(one["body"])]) == 2
