from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import update

from bisect_tool.service.posts import NewPost, Post, PostKind, Posts, PostState, key_of
from bisect_tool.service.talk_settings import Target
from bisect_tool.service.webhooks import MOST_ATTEMPTS, WebhookSender
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import posts as table
from tests.rig.hook_receiver import Answer, HookReceiver, receive_hooks

SECRETS = (b"n" * 32, b"o" * 32)
NOW = 1_800_000_000.0
KEY = key_of("webhook", "question.answered", "7")
BODY = '{"type": "question.answered", "größe": 1}'


@pytest.fixture
def receiver() -> Iterator[HookReceiver]:
    with receive_hooks() as receiver:
        yield receiver


@pytest.fixture
def posts(file_database: Database) -> Posts:
    return Posts(file_database)


def send(posts: Posts, target: Target, **more: object) -> Post:
    """Put one delivery into the outbox if it is not there, send it, and give what became of it."""
    new = NewPost(KEY, PostKind.WEBHOOK, target.name, "q1", BODY)
    posts.database.write(lambda connection: posts.add(connection, new))
    posts.database.write(lambda connection: connection.execute(update(table).values(not_before=1.0)))
    post = posts.take()
    assert post is not None
    sender = WebhookSender(posts, (target,), may_be_private=True, clock=lambda: NOW)
    replace(sender, **more).send(post)  # type: ignore[arg-type]
    found = posts.of_key(KEY)
    assert found is not None
    return found


def test_a_delivery_is_signed_for_each_secret(posts: Posts, receiver: HookReceiver) -> None:
    post = send(posts, Target(receiver.url, SECRETS))
    assert (post.state, post.remote) == (PostState.SENT, "200")
    (delivery,) = receiver.deliveries
    assert (delivery.path, delivery.body) == ("/hook?for=tests", BODY.encode())
    number, timestamp = delivery.headers["webhook-id"], delivery.headers["webhook-timestamp"]
    assert (number, timestamp) == (f"msg_{KEY[:32]}", "1800000000")
    content = f"{number}.{timestamp}.{BODY}".encode()
    expected = [base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode() for key in SECRETS]
    assert delivery.headers["webhook-signature"] == f"v1,{expected[0]} v1,{expected[1]}"
    assert delivery.headers["content-type"] == "application/json"


def test_a_lost_answer_is_delivered_again_under_the_same_id(posts: Posts, receiver: HookReceiver) -> None:
    receiver.answers = [Answer(0), Answer(500)]
    target = Target(receiver.url, SECRETS)
    assert [send(posts, target).state for _ in range(3)] == [PostState.WAITING, PostState.WAITING, PostState.SENT]
    assert len(receiver.deliveries) == 3
    assert len({one.headers["webhook-id"] for one in receiver.deliveries}) == 1


def test_pauses_grow_and_end(posts: Posts, receiver: HookReceiver) -> None:
    receiver.answers = [Answer(503)] * MOST_ATTEMPTS
    target = Target(receiver.url, SECRETS)
    pauses = []
    for _ in range(MOST_ATTEMPTS - 1):
        post = send(posts, target)
        pauses.append(post.not_before - post.made)
        assert post.state is PostState.WAITING
    assert pauses == sorted(pauses)
    assert pauses[0] < 60
    assert pauses[-1] > 30_000
    assert send(posts, target).state is PostState.FAILED
    assert posts.take() is None


def test_a_receiver_says_when_it_wants_to_hear_again(posts: Posts, receiver: HookReceiver) -> None:
    receiver.answers = [Answer(429, {"Retry-After": "5000"})]
    post = send(posts, Target(receiver.url, SECRETS))
    assert post.not_before - post.made > 4900


def test_a_receiver_that_wants_nothing_more_gets_nothing_more(posts: Posts, receiver: HookReceiver) -> None:
    receiver.answers = [Answer(410)]
    assert send(posts, Target(receiver.url, SECRETS)).state is PostState.FAILED


def test_redirections_are_not_followed(posts: Posts, receiver: HookReceiver) -> None:
    receiver.answers = [Answer(302, {"Location": "/elsewhere"})]
    post = send(posts, Target(receiver.url, SECRETS))
    assert (post.state, post.error) == (PostState.WAITING, "the receiver answered with status 302")
    assert len(receiver.deliveries) == 1


def test_private_networks_are_not_called(posts: Posts, receiver: HookReceiver) -> None:
    post = send(posts, Target(receiver.url, SECRETS), may_be_private=False)
    assert post.state is PostState.WAITING
    assert post.error is not None
    assert "private network" in post.error
    assert receiver.deliveries == []


def test_a_name_is_looked_up_once_so_that_it_cannot_mean_something_else_later(
    posts: Posts, receiver: HookReceiver
) -> None:
    answers = [["127.0.0.1"], ["169.254.169.254"]]
    target = Target(receiver.url.replace("127.0.0.1", "hooks.example.org"), SECRETS)
    assert send(posts, target, ask=lambda _host, _port: answers.pop(0)).state is PostState.SENT
    assert receiver.deliveries[0].headers["host"].startswith("hooks.example.org:")
    assert answers == [["169.254.169.254"]]


def test_a_webhook_that_is_gone_from_the_settings_is_left(posts: Posts, receiver: HookReceiver) -> None:
    post = send(posts, Target(receiver.url, SECRETS), targets=())
    assert post.state is PostState.LEFT
    assert receiver.deliveries == []


def test_names_of_targets_hold_no_secret() -> None:
    one, other = (Target(f"https://hooks.example.org/services/{part}", SECRETS) for part in ("s3cret", "other"))
    assert one.name.startswith("hooks.example.org ")
    assert one.name != other.name
    assert "s3cret" not in repr(one) + one.name
