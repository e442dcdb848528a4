from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from bisect_tool.service.github.client import GitHubClient
from bisect_tool.service.github.credentials import TokenCredentials
from bisect_tool.service.github.faults import Limited, Rejected, TokenRefused, Trouble, Unclear
from bisect_tool.service.github.issue import Issue
from tests.rig import fake_github
from tests.rig.fake_github import TOKEN, US, FakeGitHub

ISSUE = Issue("pytorch/pytorch", 12)
NOW = 1_800_000_000.0


def client(github: FakeGitHub, token: str = TOKEN, now: float = NOW) -> GitHubClient:
    return GitHubClient(TokenCredentials(token), github.url, clock=lambda: now)


def test_comments_are_made_found_and_edited(github: FakeGitHub) -> None:
    ours = client(github).create(ISSUE, "one")
    github.add_comment("pytorch/pytorch", 12, "somebody", "theirs")
    client(github).edit(ISSUE, ours.id, "two")
    assert [(one["user"]["login"], one["body"]) for one in github.comments("pytorch/pytorch", 12)] == [
        (US, "two"),
        ("somebody", "theirs"),
    ]
    assert [one.body for one in client(github).own_comments(ISSUE)] == ["two"]
    assert ours.address == f"https://github.com/pytorch/pytorch/issues/12#issuecomment-{ours.id}"


def test_comments_of_all_pages_are_looked_through(github: FakeGitHub) -> None:
    for number in range(230):
        github.add_comment("pytorch/pytorch", 12, US if number % 100 == 29 else "somebody", str(number))
    assert [one.body for one in client(github).own_comments(ISSUE)] == ["29", "129", "229"]
    assert github.count("list") == 3


def test_a_comment_of_somebody_who_has_left(github: FakeGitHub) -> None:
    github.add_comment("pytorch/pytorch", 12, US, "ours")
    github.add_comment("pytorch/pytorch", 12, "ghost", "theirs", user=None)
    assert [one.body for one in client(github).own_comments(ISSUE)] == ["ours"]


def test_the_same_reaction_twice_is_one(github: FakeGitHub) -> None:
    made = github.add_comment("pytorch/pytorch", 12, "somebody", "/bisect")
    for _ in range(2):
        client(github).react(ISSUE, made["id"], "eyes")
    assert github.reactions == [(made["id"], US, "eyes")]


@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_says_how_long_and_closes_the_way_until_then(github: FakeGitHub, status: int) -> None:
    github.plant("create", fake_github.secondary_limit(77, status=status))
    one = client(github)
    for _ in range(2):
        with pytest.raises(Limited) as raised:
            one.create(ISSUE, "text")
        assert raised.value.seconds == 77
    assert github.count("create") == 1


def test_the_limit_of_the_hour(github: FakeGitHub) -> None:
    github.plant("create", fake_github.hourly_limit(int(NOW) + 600))
    with pytest.raises(Limited) as raised:
        client(github).create(ISSUE, "text")
    assert raised.value.seconds == 601


def test_a_limit_that_does_not_say_how_long_lasts_a_minute(github: FakeGitHub) -> None:
    github.plant("create", fake_github.unsaid_limit())
    with pytest.raises(Limited) as raised:
        client(github).create(ISSUE, "text")
    assert raised.value.seconds == 60


def test_the_last_request_of_the_hour_is_done_and_the_next_one_waits(github: FakeGitHub) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 10)}
    github.plant("me", fake_github.Fault(200, headers=headers, body=b'{"login": "bisect-bot"}'))
    one = client(github)
    assert one.me() == US
    with pytest.raises(Limited):
        one.create(ISSUE, "text")
    assert github.count("create") == 0


@pytest.mark.parametrize(
    ("fault", "kind", "comments"),
    [
        (fake_github.lost_reply(), Unclear, 1),
        (fake_github.lost_request(), Unclear, 0),
        (fake_github.server_error(), Unclear, 0),
        (fake_github.server_error(is_done=True), Unclear, 1),
        (fake_github.Fault(200, body=b"<html>sign in</html>"), Unclear, 0),
        (fake_github.Fault(200, body=b'{"status": "ok"}'), Unclear, 0),
        (fake_github.locked(), Rejected, 0),
        (fake_github.moved(), Rejected, 0),
        (fake_github.Fault(410, "This issue was deleted"), Rejected, 0),
        (fake_github.Fault(401, "Bad credentials"), TokenRefused, 0),
    ],
)
def test_faults_are_told_apart(
    github: FakeGitHub, fault: fake_github.Fault, kind: type[Trouble], comments: int
) -> None:
    github.plant("create", fault)
    with pytest.raises(kind) as raised:
        client(github).create(ISSUE, "text")
    assert TOKEN not in repr(raised.value)
    assert len(github.comments("pytorch/pytorch", 12)) == comments


def test_no_such_issue_and_too_long_a_text_are_refused(github: FakeGitHub) -> None:
    with pytest.raises(Rejected, match="Not Found"):
        client(github).create(Issue("pytorch/pytorch", 13), "text")
    with pytest.raises(Rejected, match="too long"):
        client(github).create(ISSUE, "x" * 65_537)


def test_a_wrong_token_is_told_apart_and_no_token_is_shown(github: FakeGitHub) -> None:
    with pytest.raises(TokenRefused):
        client(github, "another").me()
    assert TOKEN not in repr(client(github))


def test_a_slow_answer_is_no_answer_although_it_is_done(github: FakeGitHub) -> None:
    answers = threading.Event()
    github.plant("create", fake_github.Fault(201, is_done=True, waits_for=answers))
    impatient = replace(client(github), timeouts=(5.0, 0.2))
    with pytest.raises(Unclear, match="no answer of GitHub"):
        impatient.create(ISSUE, "text")
    answers.set()
    assert len(github.comments("pytorch/pytorch", 12)) == 1


def test_a_next_page_on_another_server_is_not_asked(github: FakeGitHub) -> None:
    link = '<http://127.0.0.1:1/repos/pytorch/pytorch/issues/12/comments?page=2>; rel="next"'
    github.plant("list", fake_github.Fault(200, headers={"Link": link}, body=b"[]"))
    with pytest.raises(Unclear, match="another server"):
        client(github).own_comments(ISSUE)
