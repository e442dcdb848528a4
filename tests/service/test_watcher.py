"""Of several servers one watches at a time."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from sqlalchemy import insert

from bisect_tool.service.answers import Answers
from bisect_tool.service.question import Purpose
from bisect_tool.service.reviews import Reviews
from bisect_tool.service.streams import Streams
from bisect_tool.service.upkeep import DAY, Upkeep
from bisect_tool.service.watcher import KEY, Watcher
from bisect_tool.service.watches import Watches, Watching, WatchRules
from bisect_tool.stopping import Stop
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.leases import LeaseKeeper
from bisect_tool.store.service_tables import deliveries
from tests.rig.answers import answer
from tests.rig.service_scene import Scene, ScriptedChannel, scene

NIGHT = 8 * 3600.0


@pytest.fixture
def at(address: StoreAddress) -> Iterator[Scene]:
    with scene(address) as made:
        yield made


def server(at: Scene, channel: ScriptedChannel, told: list[str]) -> Watcher:
    """One server of several on the database."""
    watching = Watching(Watches(at.database, WatchRules(jitter=0)), Streams(at.database), channel, Random(1))
    keeper = LeaseKeeper(at.database, 3600.0)
    return Watcher(Answers(at.database), watching, Reviews(at.database), keeper, told.append, lambda: at.hand.at)


def test_two_servers_and_one_of_them_looks(at: Scene) -> None:
    channel, told = ScriptedChannel(), [[], []]  # type: ignore[var-annotated]
    channel.publish("aa")
    question = at.answered(answer("✓A", channel="nightly"))
    first, second = (server(at, channel, lines) for lines in told)
    assert [first.turn(), second.turn(), second.turn(), first.turn()] == [True, False, False, True]
    assert len(channel.looks) == 1
    channel.publish("b", first=2)
    at.hand.move(minutes=31)
    assert [second.turn(), first.turn()] == [False, True]
    at.finish(answer("✓A✓", channel="nightly"), Purpose.WATCH)
    first.turn()
    assert told == [
        [
            f"{question}: asked again for new builds, job 2",
            f"{question}: zero-grad (repro) is fixed in 1.2: 1.1 is the last build with it",
        ],
        [],
    ]
    first.close()
    assert second.turn()
    second.close()
    first.leases.close()
    second.leases.close()


def test_a_server_that_was_silent_for_too_long_is_not_the_one_any_more(at: Scene) -> None:
    channel = ScriptedChannel()
    first, second = server(at, channel, []), server(at, channel, [])
    assert first.turn()
    at.hand.move(hours=2)
    assert second.turn()
    assert not first.turn()
    first.leases.close()
    second.leases.close()


def test_the_thread_ends_when_it_is_told_to_and_lets_go(at: Scene) -> None:
    stop, told = Stop(), []  # type: ignore[var-annotated]
    one = server(at, ScriptedChannel(), told)

    def down() -> bool:
        stop.set()
        return Watcher.turn(one)

    one.turn = down  # type: ignore[method-assign]
    one.work(stop)
    assert told == []
    assert one.leases.holder(KEY) is None
    one.leases.close()


def test_a_defect_is_told_and_ends_no_watching(at: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    stop, turns = Stop(), [ValueError("a row of a newer version"), None]
    watcher = server(at, ScriptedChannel(), told)

    def turn(_self: Watcher) -> bool:
        error = turns.pop(0)
        if error is not None:
            raise error
        stop.set()
        return True

    monkeypatch.setattr(Watcher, "turn", turn)
    monkeypatch.setattr("bisect_tool.service.watcher.PAUSE", 0.0)
    watcher.work(stop)
    watcher.leases.close()
    assert told == ["watches: a defect: ValueError: a row of a newer version"]
    assert turns == []


def test_what_is_old_is_forgotten_by_the_one_that_watches(at: Scene) -> None:
    lines: list[list[str]] = [[], []]
    first, second = (server(at, ScriptedChannel(), told) for told in lines)
    for one in (first, second):
        one.upkeep = Upkeep(at.database, 90 * DAY, lambda: at.hand.at)
    row = {"id": "guid", "received": at.hand.at, "outcome": "asked"}
    at.database.write(lambda connection: connection.execute(insert(deliveries).values(row)))
    assert [first.turn(), second.turn()] == [True, False]
    at.hand.move(days=91)
    while first.turn() and not lines[0]:
        pass
    assert lines == [["removed what is older than 90 days: 1 deliveries"], []]
    first.close()
    for one in (first, second):
        one.leases.close()
