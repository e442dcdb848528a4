"""Comments are written once, edited in place, and never over what others wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from bisect_tool.service.github.client import GitHubClient
from bisect_tool.service.github.credentials import TokenCredentials
from bisect_tool.service.github.marker import marked
from bisect_tool.service.github.posting import EDITED, MOST_ATTEMPTS, GitHubSender
from bisect_tool.service.posts import LeaseOver, NewPost, Post, PostKind, Posts, PostState, follower_key, key_of
from bisect_tool.service.talk_settings import GitHubSettings
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import posts as table
from tests.rig import fake_github
from tests.rig.fake_github import TOKEN, US, FakeGitHub, Fault

REPOSITORY, NUMBER = "pytorch/pytorch", 12
KEY = key_of("answer", "q1")
SETTINGS = GitHubSettings(token=TOKEN, posts=True, repositories=frozenset({REPOSITORY}))


@pytest.fixture
def posts(file_database: Database) -> Posts:
    return Posts(file_database)


def add(posts: Posts, body: str = "It appeared in 2.13.0.", key: str = KEY) -> None:
    new = NewPost(key, PostKind.COMMENT, f"{REPOSITORY}#{NUMBER}", "q1", body, key_of(body))
    posts.database.write(lambda connection: posts.add(connection, new))


def sender(posts: Posts, github: FakeGitHub, settings: GitHubSettings = SETTINGS) -> GitHubSender:
    """A sender that was just started: it knows nothing but what the database says."""
    return GitHubSender(posts, settings, GitHubClient(TokenCredentials(TOKEN), github.url), lambda _: None)


def send(posts: Posts, github: FakeGitHub, settings: GitHubSettings = SETTINGS) -> Post:
    """Send what waits now, and give what became of it."""
    posts.database.write(lambda connection: connection.execute(update(table).values(not_before=1.0)))
    post = posts.take()
    assert post is not None
    sender(posts, github, settings).send(post)
    return of(posts, post.key)


def of(posts: Posts, key: str = KEY) -> Post:
    found = posts.of_key(key)
    assert found is not None
    return found


def bodies(github: FakeGitHub) -> list[str]:
    return [one["body"] for one in github.comments(REPOSITORY, NUMBER)]


def test_a_comment_is_written_once(posts: Posts, github: FakeGitHub) -> None:
    add(posts)
    post = send(posts, github)
    assert bodies(github) == [marked("It appeared in 2.13.0.", KEY)]
    assert (post.state, post.remote) == (PostState.SENT, str(github.comments(REPOSITORY, NUMBER)[0]["id"]))
    assert posts.take() is None


def test_a_new_answer_is_edited_in_place(posts: Posts, github: FakeGitHub) -> None:
    add(posts)
    send(posts, github)
    add(posts, "It was fixed in 2.15.0.")
    assert send(posts, github).state is PostState.SENT
    assert bodies(github) == [marked("It was fixed in 2.15.0.", KEY)]


@pytest.mark.parametrize("fault", [fake_github.lost_reply(), fake_github.server_error(is_done=True)])
def test_a_lost_answer_makes_no_second_comment(posts: Posts, github: FakeGitHub, fault: Fault) -> None:
    github.plant("create", fault)
    add(posts)
    assert send(posts, github).state is PostState.WAITING
    assert send(posts, github).state is PostState.SENT
    assert bodies(github) == [marked("It appeared in 2.13.0.", KEY)]
    assert github.count("create") == 1


def test_killed_between_sending_and_noting_makes_no_second_comment(posts: Posts, github: FakeGitHub) -> None:
    add(posts)
    post = posts.take()
    assert post is not None
    with pytest.raises(SystemExit):
        sender(_Dying(posts.database), github).send(post)
    assert len(bodies(github)) == 1
    assert posts.take() is None  # for as long as the dead one might be alive
    posts.database.write(lambda connection: connection.execute(update(table).values(until=1.0)))
    assert send(posts, github).state is PostState.SENT
    assert len(bodies(github)) == 1


def test_a_sender_that_was_taken_for_dead_writes_nothing(posts: Posts, github: FakeGitHub) -> None:
    add(posts)
    slow = posts.take()
    assert slow is not None
    posts.database.write(lambda connection: connection.execute(update(table).values(until=1.0)))
    assert send(posts, github).state is PostState.SENT
    add(posts, "It was fixed in 2.15.0.")
    with pytest.raises(LeaseOver):
        sender(posts, github).send(replace(slow, body="old news", remote=None))
    assert bodies(github) == [marked("It appeared in 2.13.0.", KEY)]


def test_a_comment_that_somebody_edited_is_left_and_another_one_written(posts: Posts, github: FakeGitHub) -> None:
    add(posts)
    send(posts, github)
    theirs = github.comments(REPOSITORY, NUMBER)[0]
    theirs["body"] = theirs["body"].replace("2.13.0.", "2.13.0 (I do not think so).")
    edited = theirs["body"]
    add(posts, "It was fixed in 2.15.0.")
    assert send(posts, github).state is PostState.LEFT
    assert send(posts, github).state is PostState.SENT
    after = follower_key(KEY)
    assert bodies(github) == [edited, marked(f"{EDITED}\n\nIt was fixed in 2.15.0.", after)]
    assert posts.database.read(lambda connection: posts.present_key(connection, KEY)) == after


def test_an_edit_at_the_end_counts_as_well(posts: Posts, github: FakeGitHub) -> None:
    add(posts)
    send(posts, github)
    github.comments(REPOSITORY, NUMBER)[0]["body"] += "\n\nEdit: no."
    add(posts, "It was fixed in 2.15.0.")
    send(posts, github)
    send(posts, github)
    first, second = bodies(github)
    assert first.endswith("Edit: no.")
    assert second.startswith(EDITED)


def test_a_comment_that_somebody_deleted_is_not_written_again(posts: Posts, github: FakeGitHub) -> None:
    add(posts)
    send(posts, github)
    github.written.clear()
    add(posts, "It was fixed in 2.15.0.")
    assert send(posts, github).state is PostState.LEFT
    assert bodies(github) == []
    assert of(posts).error == "the comment was deleted on GitHub"


def test_somebody_elses_comment_with_our_mark_is_not_ours(posts: Posts, github: FakeGitHub) -> None:
    copied = marked("It appeared in 2.13.0.", KEY)
    github.add_comment(REPOSITORY, NUMBER, "somebody", copied)
    add(posts)
    send(posts, github)
    add(posts, "It was fixed in 2.15.0.")
    send(posts, github)
    assert bodies(github) == [copied, marked("It was fixed in 2.15.0.", KEY)]


def test_another_question_on_the_same_issue_has_its_own_comment(posts: Posts, github: FakeGitHub) -> None:
    other = key_of("answer", "q2")
    add(posts)
    send(posts, github)
    add(posts, "Something else.", other)
    send(posts, github)
    assert bodies(github) == [marked("It appeared in 2.13.0.", KEY), marked("Something else.", other)]


def test_the_cap_of_a_day_holds_across_a_restart_and_edits_are_free(posts: Posts, github: FakeGitHub) -> None:
    two = replace(SETTINGS, daily=2)
    keys = [key_of(str(number)) for number in range(3)]
    for key in keys:
        add(posts, key=key)
    assert [send(posts, github, two).state for _ in keys] == [PostState.SENT, PostState.SENT, PostState.WAITING]
    assert of(posts, keys[2]).error == f"2 comments were made in {REPOSITORY} in the last 24 hours"
    assert of(posts, keys[2]).attempts == 0
    add(posts, "Changed.", keys[0])
    posts.database.write(lambda connection: connection.execute(update(table).values(not_before=1.0)))
    for _ in range(2):
        post = posts.take()
        assert post is not None
        sender(posts, github, two).send(post)
    assert [body[:8] for body in bodies(github)] == ["Changed.", "It appea"]


def test_a_dry_run_asks_nobody_and_keeps_what_it_would_have_said(posts: Posts, github: FakeGitHub) -> None:
    add(posts)
    post = send(posts, github, replace(SETTINGS, posts=False))
    assert (post.state, post.body) == (PostState.DRY, "It appeared in 2.13.0.")
    assert github.requests == []


def test_a_repository_that_is_not_on_the_list_hears_nothing(posts: Posts, github: FakeGitHub) -> None:
    add(posts)
    post = send(posts, github, replace(SETTINGS, repositories=frozenset({"else/where"})))
    assert post.state is PostState.LEFT
    assert github.requests == []


def test_a_limit_holds_everything_for_github_and_is_no_attempt(posts: Posts, github: FakeGitHub) -> None:
    github.plant("create", fake_github.secondary_limit(1000))
    add(posts)
    add(posts, key=key_of("another"))
    post = posts.take()
    assert post is not None
    sender(posts, github).send(post)
    assert posts.take() is None
    waiting = of(posts, post.key)
    assert (waiting.state, waiting.attempts) == (PostState.WAITING, 0)
    assert waiting.not_before - waiting.made > 900
    assert send(posts, github).state is PostState.SENT


def test_what_github_refuses_is_not_tried_again(posts: Posts, github: FakeGitHub) -> None:
    github.issues[REPOSITORY, NUMBER]["locked"] = True
    add(posts)
    post = send(posts, github)
    assert (post.state, post.error) == (
        PostState.FAILED,
        "GitHub refuses this: Unable to create comment because issue is locked.",
    )
    assert posts.take() is None


def test_a_token_that_is_refused_waits_for_another_one(posts: Posts, github: FakeGitHub) -> None:
    github.tokens.clear()
    add(posts)
    post = send(posts, github)
    assert (post.state, post.attempts, post.error) == (PostState.WAITING, 0, "GitHub does not accept the token")
    github.tokens[TOKEN] = US
    assert send(posts, github).state is PostState.SENT


def test_a_server_that_stays_broken_is_given_up(posts: Posts, github: FakeGitHub) -> None:
    github.plant("list", fake_github.server_error(times=None))
    add(posts)
    states = [send(posts, github).state for _ in range(MOST_ATTEMPTS)]
    assert states == [PostState.WAITING] * (MOST_ATTEMPTS - 1) + [PostState.FAILED]
    assert of(posts).error == f"tried {MOST_ATTEMPTS} times: GitHub answered with status 502"


def test_a_reaction(posts: Posts, github: FakeGitHub) -> None:
    made = github.add_comment(REPOSITORY, NUMBER, "somebody", "/bisect")
    new = NewPost(KEY, PostKind.REACTION, f"{REPOSITORY}#{NUMBER}", "", f"{made['id']} eyes")
    posts.database.write(lambda connection: posts.add(connection, new))
    github.plant("react", fake_github.lost_reply())
    assert send(posts, github).state is PostState.WAITING
    assert send(posts, github).state is PostState.SENT
    assert github.reactions == [(made["id"], US, "eyes")]


class _Dying(Posts):
    """Killed when it should note that something was sent."""

    def sent(self, post: Post, remote: str | None) -> None:
        raise SystemExit(f"killed: {post.key} {remote}")
