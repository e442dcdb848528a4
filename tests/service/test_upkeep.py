"""What is old and over is forgotten, a piece at a time; nothing by which something would be sent or done twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Table, func, insert, select, update

from bisect_tool.service.event_log import EventLog
from bisect_tool.service.posts import NewPost, PostKind, Posts, PostState, key_of
from bisect_tool.service.question import Asker, Purpose
from bisect_tool.service.receiving import keep
from bisect_tool.service.talk_settings import GitHubSettings, TalkSettings, Target
from bisect_tool.service.telling import Teller
from bisect_tool.service.upkeep import DAY, EVERY, ROWS, TRANSACTIONS, Upkeep
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.service_tables import asked, deliveries, job_events, posts, told
from tests.rig.answers import answer
from tests.rig.service_scene import Scene, scene

KEEP = 90 * DAY


@pytest.fixture
def at(address: StoreAddress) -> Iterator[Scene]:
    with scene(address) as made:
        yield made


def upkeep(at: Scene, rows: int = ROWS, transactions: int = TRANSACTIONS) -> Upkeep:
    return Upkeep(at.database, KEEP, lambda: at.hand.at, rows, transactions)


def clean(at: Scene) -> str:
    """A whole round of a server that was just started."""
    one, removed = upkeep(at), ""
    while one.turn_is_due:
        removed = one.turn()
    return removed


def put(at: Scene, table: Table, /, **row: Any) -> None:
    at.database.write(lambda connection: connection.execute(insert(table).values(**row)))


def count(at: Scene, table: Table) -> int:
    return int(
        at.database.read(lambda connection: connection.execute(select(func.count()).select_from(table)).scalar_one())
    )


def post(at: Scene, key: str, kind: PostKind, state: PostState, question: str = "", **more: Any) -> None:
    values = {
        "address": "a/b#1",
        "body": "text",
        "gist": "1",
        "attempts": 0,
        "made": at.hand.at,
        "not_before": at.hand.at,
    }
    put(at, posts, key=key_of(key), kind=kind, state=state, question=question, **{**values, **more})


def command(at: Scene, comment: str, state: str, question: str | None = None) -> None:
    values = {"repository": "a/b", "issue": 1, "login": "ann", "said": "[]", "report": {}, "received": at.hand.at}
    put(at, asked, comment=comment, state=state, question=question, **values)


def left(at: Scene, column: Any) -> list[Any]:
    return at.database.read(lambda connection: sorted(connection.execute(select(column)).scalars()))


def test_what_is_old_and_over_goes_and_what_is_new_stays(at: Scene) -> None:
    for age in ("old", "new"):
        put(at, deliveries, id=age, received=at.hand.at, outcome="asked")
        put(at, told, job=len(age) + ord(age[0]), at=at.hand.at)
        command(at, age, "refused")
        for kind in (PostKind.WEBHOOK, PostKind.REPLY, PostKind.REACTION):
            post(at, f"{kind} {age}", kind, PostState.SENT)
        at.hand.move(days=60)
    at.hand.move(days=-25)
    assert clean(at) == "1 deliveries, 1 commands, 2 replies, 1 calls of webhooks, 1 jobs that were told"
    assert left(at, deliveries.c.id) == left(at, asked.c.comment) == ["new"]
    assert left(at, told.c.job) == [3 + ord("n")]
    assert left(at, posts.c.key) == sorted(key_of(f"{kind} new") for kind in ("webhook", "reply", "reaction"))
    assert clean(at) == ""


@pytest.mark.parametrize("kind", list(PostKind))
def test_what_still_waits_to_be_sent_stays(at: Scene, kind: PostKind) -> None:
    post(at, "a", kind, PostState.WAITING)
    command(at, "1", "waiting")
    command(at, "2", "accepted")
    at.hand.move(days=1000)
    assert clean(at) == ""
    assert [one.body for one in Posts(at.database).all()] == ["text"]
    assert left(at, asked.c.comment) == ["1", "2"]


def test_a_comment_of_ours_is_known_for_ever_and_only_its_text_goes(at: Scene) -> None:
    for state in (PostState.SENT, PostState.LEFT, PostState.FAILED, PostState.DRY):
        post(at, state, PostKind.COMMENT, state, remote="17")
    at.hand.move(days=91)
    assert clean(at) == "4 texts of comments"
    outbox = Posts(at.database)
    assert {(one.state, one.remote, one.body) for one in outbox.all()} == {
        (state, "17", "") for state in (PostState.SENT, PostState.LEFT, PostState.FAILED, PostState.DRY)
    }

    def decide(gist: str) -> None:
        new = NewPost(key_of("sent"), PostKind.COMMENT, "a/b#1", "", f"body {gist}", gist)
        at.database.write(lambda connection: outbox.add(connection, new))

    decide("1")
    assert outbox.take() is None  # it says nothing new
    decide("2")
    taken = outbox.take()
    assert taken is not None
    assert (taken.remote, taken.body) == ("17", "body 2")  # the comment that is there is edited


def test_commands_and_replies_stay_as_long_as_somebody_works_on_their_question(at: Scene) -> None:
    question = at.answered(answer("✓A"))
    for comment in ("1", "2"):
        command(at, comment, "settled", question)
    post(at, "reply", PostKind.REPLY, PostState.SENT, question)
    at.hand.move(days=80)
    at.questions.retry(question, Asker(""), fresh=False)
    at.hand.move(days=80)
    assert "commands" not in clean(at)  # a job waits
    at.finish(answer("✓A"))
    at.hand.move(days=89)
    assert "commands" not in clean(at)  # it ended not long ago
    assert count(at, posts) == 1
    at.hand.move(days=2)
    assert "2 commands, 1 replies" in clean(at)


def test_a_reply_stays_as_long_as_its_command(at: Scene) -> None:
    question = at.answered(answer("✓A"))
    post(at, "reply", PostKind.REPLY, PostState.SENT, question)
    at.hand.move(days=60)
    command(at, "1", "settled", question)
    at.hand.move(days=60)
    clean(at)
    assert (count(at, posts), count(at, asked)) == (1, 1)


def test_a_delivery_that_came_again_counts_anew(at: Scene) -> None:
    settings = GitHubSettings(repositories=frozenset({"a/b"}))
    ping: dict[str, Any] = {"zen": "x"}
    assert keep(at.database, settings, "ping", "guid", ping).outcome == "ignored: ping"
    at.hand.move(days=60)
    assert keep(at.database, settings, "ping", "guid", ping).outcome == "received before"
    at.hand.move(days=60)
    assert clean(at) == ""
    assert keep(at.database, settings, "ping", "guid", ping).outcome == "received before"
    at.hand.move(days=91)
    assert clean(at) == "1 deliveries"


def test_a_job_that_was_told_is_not_told_again(at: Scene) -> None:
    settings = TalkSettings(targets=(Target("https://example.org/", (b"s" * 32,)),))

    def tell() -> int:
        return Teller(at.database, settings, lambda question: f"https://bisect.example/q/{question}").tell()

    at.answered(answer("✓A"))
    assert tell() == 1
    outbox = Posts(at.database)
    calls = 0
    while (taken := outbox.take()) is not None:
        outbox.sent(taken, "200")
        calls += 1
    assert calls > 0
    at.hand.move(days=91)
    assert f"{calls} calls of webhooks, 1 jobs that were told" in clean(at)
    assert count(at, posts) == 0
    assert tell() == 0
    assert (count(at, posts), count(at, told)) == (0, 0)


def test_the_events_of_questions_on_which_nobody_works(at: Scene) -> None:
    log = EventLog(at.database)
    finished = at.answered(answer("✓A"), "finished")
    working = at.ask("working")
    for number in range(3):
        log.add(working, 99, [("notice", {"text": str(number)})])
        log.add(finished, 1, [("notice", {"text": str(number)})])
    at.hand.move(days=91)
    log.add(finished, 1, [("notice", {"text": "new"})])
    before = log.newest()
    one = upkeep(at, rows=2)
    while one.turn_is_due:
        one.turn()
    assert [event.body["text"] for event in log.after(0, finished)] == ["new"]
    assert [event.body.get("text") for event in log.after(0, working)] == [None, "0", "1", "2"]
    at.database.write(lambda connection: connection.execute(update(job_events).values(at=0.0)))
    at.finish(answer("✓A"))
    at.hand.move(days=200)
    clean(at)
    assert log.after(0) == []
    log.add(finished, 1, [("notice", {"text": "later"})])
    assert log.newest() > before  # who has read up to there misses nothing


def test_a_turn_is_short_and_a_round_comes_once_an_hour(at: Scene) -> None:
    for number in range(7):
        put(at, deliveries, id=str(number), received=at.hand.at, outcome="")
    at.hand.move(days=91)
    one = upkeep(at, rows=2, transactions=2)
    assert (one.turn(), count(at, deliveries)) == ("", 3)
    assert (one.turn(), count(at, deliveries)) == ("", 0)
    told_at_last = [one.turn() for _ in range(3)]
    assert told_at_last == ["", "", "7 deliveries"]
    put(at, deliveries, id="again", received=0.0, outcome="")
    assert [one.turn() for _ in range(5)] == [""] * 5
    at.hand.move(seconds=EVERY)
    one.turn()
    assert count(at, deliveries) == 0


def test_watches_of_a_question_keep_its_commands(at: Scene) -> None:
    question = at.answered(answer("✓A"))
    command(at, "1", "settled", question)
    for _ in range(3):
        at.hand.move(days=80)
        at.queue.add(question, Purpose.WATCH, Asker(""))
        at.finish(answer("✓A"), Purpose.WATCH)
        clean(at)
    assert count(at, asked) == 1
