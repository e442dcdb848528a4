"""What every database must keep to, so that no two hosts do the same work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, nullcontext

import pytest
from sqlalchemy import select, update

from bisect_tool.stopping import Cancelled, Stop
from bisect_tool.store import leases as module
from bisect_tool.store import tables
from bisect_tool.store.address import StoreAddress
from bisect_tool.store.leases import Lease, LeaseKeeper, LeaseLost
from bisect_tool.store.results import Results, open_results
from tests.store.test_results import TRIAL

SPAN = 1000.0  # the thread that beats is never due: a test beats itself


@pytest.fixture
def hosts(address: StoreAddress) -> Iterator[tuple[Results, Results]]:
    with ExitStack() as stack:
        yield (
            stack.enter_context(open_results(address, nullcontext, span=SPAN)),
            stack.enter_context(open_results(address, nullcontext, span=SPAN)),
        )


def keeper(results: Results) -> LeaseKeeper:
    assert results.leases is not None
    return results.leases


def taken(results: Results, key: str = "key") -> Lease:
    lease = keeper(results).take(key, "some work")
    assert lease is not None
    return lease


def silent_for(results: Results, seconds: float) -> None:
    """As if every owner had beaten for the last time so long ago."""
    with results.engine.begin() as connection:
        connection.execute(update(tables.leases).values(beat=results.database.now() - seconds))


def test_one_of_two_hosts_gets_it(hosts: tuple[Results, Results]) -> None:
    taken(hosts[0])
    assert keeper(hosts[1]).take("key", "some work") is None
    taken(hosts[1], "other")


def test_what_is_let_go_is_free(hosts: tuple[Results, Results]) -> None:
    keeper(hosts[0]).release(taken(hosts[0]))
    taken(hosts[1])


def test_who_holds_it(hosts: tuple[Results, Results]) -> None:
    assert keeper(hosts[1]).holder("key") is None
    taken(hosts[0])
    silent_for(hosts[0], 30)
    holder = keeper(hosts[1]).holder("key")
    assert holder is not None
    assert holder.about == "some work"
    assert 30 <= holder.silent < SPAN


def test_a_silent_owner_keeps_it_for_its_span(hosts: tuple[Results, Results]) -> None:
    taken(hosts[0])
    silent_for(hosts[0], SPAN - 100)
    assert keeper(hosts[1]).take("key", "some work") is None


def test_the_work_of_a_dead_host_is_taken_over_by_one(hosts: tuple[Results, Results]) -> None:
    taken(hosts[0])
    silent_for(hosts[0], SPAN + 1)
    taken(hosts[1])
    assert keeper(hosts[0]).take("key", "some work") is None


def test_a_beat_keeps_it(hosts: tuple[Results, Results]) -> None:
    taken(hosts[0])
    silent_for(hosts[0], SPAN + 1)
    keeper(hosts[0]).beat()
    assert keeper(hosts[1]).take("key", "some work") is None


def test_a_host_that_was_silent_stores_nothing_once_another_has_taken_over(hosts: tuple[Results, Results]) -> None:
    lost = taken(hosts[0])
    silent_for(hosts[0], SPAN + 1)
    hosts[1].add_trial(TRIAL, taken(hosts[1]))
    with pytest.raises(LeaseLost):
        hosts[0].add_trial(TRIAL, lost)
    assert len(hosts[0].trials_of("repro", "setting", "cpu")) == 1


def test_nor_when_the_other_one_has_finished(hosts: tuple[Results, Results]) -> None:
    lost = taken(hosts[0])
    silent_for(hosts[0], SPAN + 1)
    keeper(hosts[1]).release(taken(hosts[1]))
    with pytest.raises(LeaseLost):
        hosts[0].add_trial(TRIAL, lost)
    assert hosts[0].trials_of("repro", "setting", "cpu") == []


def test_a_host_that_was_silent_goes_on_when_nobody_has_taken_over(hosts: tuple[Results, Results]) -> None:
    lease = taken(hosts[0])
    silent_for(hosts[0], SPAN + 1)
    hosts[0].add_trial(TRIAL, lease)
    assert hosts[0].trials_of("repro", "setting", "cpu") == [TRIAL]
    assert keeper(hosts[1]).take("key", "some work") is None


def test_letting_go_of_what_was_lost_does_not_disturb_the_other(hosts: tuple[Results, Results]) -> None:
    lost = taken(hosts[0])
    silent_for(hosts[0], SPAN + 1)
    lease = taken(hosts[1])
    keeper(hosts[0]).release(lost)
    hosts[1].add_trial(TRIAL, lease)


def test_a_lost_lease_beats_no_more(hosts: tuple[Results, Results]) -> None:
    taken(hosts[0])
    silent_for(hosts[0], SPAN + 1)
    lease = taken(hosts[1])
    silent_for(hosts[1], 500)
    keeper(hosts[0]).beat()
    with hosts[1].engine.connect() as connection:
        rows = connection.execute(select(tables.leases.c.owner, hosts[1].database.now() - tables.leases.c.beat)).all()
    assert [row.owner for row in rows] == [lease.owner]
    assert rows[0][1] >= 500


def test_time_is_that_of_the_database(hosts: tuple[Results, Results], monkeypatch: pytest.MonkeyPatch) -> None:
    """A host whose clock jumps neither loses its work nor takes that of another."""
    taken(hosts[0])
    for clock in ("time", "monotonic"):
        monkeypatch.setattr(f"time.{clock}", lambda: 1e12)
    assert keeper(hosts[1]).take("key", "some work") is None
    keeper(hosts[0]).beat()
    assert keeper(hosts[1]).take("key", "some work") is None


def test_whoever_waits_is_told_for_whom_and_gets_it_then(
    hosts: tuple[Results, Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    lease, told = taken(hosts[0]), list[str]()

    def waits(by: str) -> None:
        told.append(by)
        keeper(hosts[0]).release(lease)

    with keeper(hosts[1]).held("key", "some work", waits, Stop()):
        assert keeper(hosts[0]).take("key", "some work") is None
    assert [" on " in line for line in told] == [True]
    taken(hosts[0])


def test_waiting_can_be_stopped(hosts: tuple[Results, Results]) -> None:
    taken(hosts[0])
    stop = Stop()
    with pytest.raises(Cancelled), keeper(hosts[1]).held("key", "some work", lambda _: stop.set(), stop):
        pass


def test_closing_lets_go_of_everything(address: StoreAddress) -> None:
    with open_results(address, nullcontext, span=SPAN) as first:
        taken(first)
    with open_results(address, nullcontext, span=SPAN) as second:
        taken(second)


def test_the_file_of_a_cache_needs_no_leases(address: StoreAddress) -> None:
    if address.path is not None:
        with open_results(address.path, nullcontext) as results:
            assert results.leases is None
