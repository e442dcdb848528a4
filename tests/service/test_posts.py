from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from bisect_tool.service.posts import DAY, LeaseOver, NewPost, Post, PostKind, Posts, PostState, key_of
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import posts as table

KEY, OTHER = key_of("comment", "q1"), key_of("comment", "q2")


@pytest.fixture
def posts(database: Database) -> Posts:
    return Posts(database)


def add(posts: Posts, key: str = KEY, body: str = "one", gist: str = "1", *, is_dry: bool = False) -> None:
    new = NewPost(key, PostKind.COMMENT, "a/b#1", "q1", body, gist)
    posts.database.write(lambda connection: posts.add(connection, new, is_dry=is_dry))


def of_key(posts: Posts, key: str = KEY) -> Post:
    found = posts.of_key(key)
    assert found is not None
    return found


def taken(posts: Posts) -> Post:
    found = posts.take()
    assert found is not None
    return found


def set_back(posts: Posts, **values: object) -> None:
    posts.database.write(lambda connection: connection.execute(update(table).values(**values)))


def test_a_post_is_taken_once_and_sent_once(posts: Posts) -> None:
    add(posts)
    post = taken(posts)
    assert (post.body, post.kind, post.state) == ("one", PostKind.COMMENT, PostState.WAITING)
    assert posts.take() is None
    posts.sent(post, "17")
    assert posts.take() is None
    assert (of_key(posts).state, of_key(posts).remote, of_key(posts).lease) == (PostState.SENT, "17", None)


def test_deciding_the_same_again_adds_nothing(posts: Posts) -> None:
    add(posts)
    posts.sent(taken(posts), "17")
    add(posts, body="took 3 s longer")
    assert (of_key(posts).state, of_key(posts).body) == (PostState.SENT, "one")
    assert len(posts.all()) == 1


def test_something_new_under_the_same_key_is_sent_again(posts: Posts) -> None:
    add(posts)
    posts.sent(taken(posts), "17")
    add(posts, body="two", gist="2")
    post = taken(posts)
    assert (post.body, post.remote) == ("two", "17")


def test_what_changes_while_it_is_sent_is_sent_next(posts: Posts) -> None:
    add(posts)
    post = taken(posts)
    add(posts, body="two", gist="2")
    assert posts.take() is None
    posts.sent(post, "17")
    assert (taken(posts).body, of_key(posts).remote) == ("two", "17")


def test_the_post_of_a_sender_that_is_gone_is_taken_over(posts: Posts) -> None:
    add(posts)
    gone = taken(posts)
    set_back(posts, until=1.0)
    post = taken(posts)
    with pytest.raises(LeaseOver):
        posts.keep(gone)
    with pytest.raises(LeaseOver):
        posts.sent(gone, "16")
    posts.keep(post)
    posts.sent(post, "17")
    assert of_key(posts).remote == "17"


def test_later_waits_and_counts(posts: Posts) -> None:
    add(posts)
    posts.later(taken(posts), 3600, "no answer")
    assert posts.take() is None
    assert (of_key(posts).attempts, of_key(posts).error) == (1, "no answer")
    set_back(posts, not_before=1.0)
    posts.later(taken(posts), 0, "a limit", counts=False)
    assert of_key(posts).attempts == 1
    assert taken(posts).key == KEY


def test_what_was_left_stays_left(posts: Posts) -> None:
    add(posts)
    posts.end(taken(posts), PostState.LEFT, "somebody deleted it")
    add(posts, body="two", gist="2")
    assert (of_key(posts).state, of_key(posts).body) == (PostState.LEFT, "one")
    assert posts.take() is None


def test_a_dry_post_is_kept_and_never_sent(posts: Posts) -> None:
    add(posts, is_dry=True)
    assert posts.take() is None
    assert (of_key(posts).state, of_key(posts).body) == (PostState.DRY, "one")


def test_holding_holds_all_of_a_kind(posts: Posts) -> None:
    add(posts)
    add(posts, OTHER)
    posts.hold((PostKind.COMMENT,), 60, "limit")
    assert posts.take() is None
    posts.hold((PostKind.WEBHOOK,), 60, "limit")
    set_back(posts, not_before=1.0)
    assert taken(posts).key == KEY


def test_the_cap_of_a_day_counts_what_was_made_and_frees_a_place_after_a_day(posts: Posts) -> None:
    for name in "abc":
        add(posts, key_of(name))
    one, two, three = taken(posts), taken(posts), taken(posts)
    assert posts.reserve(one, "a/b", 2) is None
    assert posts.reserve(one, "a/b", 2) is None  # the same again is one
    assert posts.reserve(two, "a/b", 2) is None
    assert posts.reserve(two, "c/d", 1) is None  # another repository has its own
    assert posts.reserve(two, "a/b", 2) is None
    wait = posts.reserve(three, "a/b", 2)
    assert wait is not None
    assert DAY - 60 < wait <= DAY
    assert posts.reserve(three, "a/b", 0) == DAY
    change = update(table).where(table.c.id == one.id).values(created=table.c.created - DAY)
    posts.database.write(lambda connection: connection.execute(change))
    assert posts.reserve(three, "a/b", 2) is None


def test_replacing_leaves_one_and_adds_another(posts: Posts) -> None:
    add(posts)
    follower = NewPost(OTHER, PostKind.COMMENT, "a/b#1", "q1", "two", "1")
    posts.replace(taken(posts), "it was edited", follower)
    assert (of_key(posts).state, of_key(posts).error) == (PostState.LEFT, "it was edited")
    assert taken(posts).key == OTHER


def test_many_senders_take_each_post_once_and_keep_within_the_cap(posts: Posts) -> None:
    for number in range(24):
        add(posts, key_of(str(number)))

    def send(_: int) -> list[tuple[int, bool]]:
        found = []
        while (post := posts.take()) is not None or posts.all(state=PostState.WAITING, most=1):
            if post is not None:
                found.append((post.id, posts.reserve(post, "a/b", 5) is None))
                posts.end(post, PostState.SENT, "")
        return found

    with ThreadPoolExecutor(6) as pool:
        sent = [one for part in pool.map(send, range(6)) for one in part]
    assert sorted(number for number, _ in sent) == list(range(1, 25))
    assert sum(is_made for _, is_made in sent) == 5
