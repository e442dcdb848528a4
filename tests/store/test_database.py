from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from sqlalchemy import URL, event
from sqlalchemy.exc import OperationalError

from bisect_tool.errors import BisectError, CacheNotWritable, SettingError, StoreUnreachable
from bisect_tool.store.address import StoreAddress, file_address, read_address
from bisect_tool.store.database import Patience, persistently
from bisect_tool.store.outbox import Outbox
from bisect_tool.store.results import open_results
from tests.rig.postgres import PostgresServer
from tests.store.test_results import TRIAL

OWN = Path("/cache/results.sqlite")
SERVER = read_address("postgresql+psycopg://me:secret@db.example/bisect", OWN)


@dataclass
class Clock:
    """Time that passes only by sleeping."""

    now: float = 0.0
    told: list[str] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def patience(self, limit: float = 100.0) -> Patience:
        return Patience(self.told.append, self.sleep, lambda: self.now, limit)


def gone(text: str = "connection to server failed: Connection refused") -> OperationalError:
    return OperationalError("SELECT 1", None, Exception(text))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (
            "postgresql+psycopg://me:secret@db.example:5433/bisect?sslmode=require",
            "postgresql://db.example:5433/bisect",
        ),
        ("postgres://me:secret@db.example/bisect", "postgresql://db.example/bisect"),
        ("postgresql:///bisect?host=/run/postgresql&password=secret", "postgresql:///run/postgresql/bisect"),
        ("sqlite:////data/all.sqlite", "/data/all.sqlite"),
    ],
)
def test_what_people_see_of_an_address(given: str, shown: str) -> None:
    address = read_address(given, OWN)
    assert str(address) == shown
    assert "secret" not in repr(address)


@pytest.mark.parametrize(
    "given", ["mysql://me:secret@db/x", "postgresql://me:secret:x@db:y/z", "sqlite://", "postgresql://me:secret@db"]
)
def test_an_address_that_cannot_be_used_is_refused_without_its_password(given: str) -> None:
    with pytest.raises(SettingError) as raised:
        read_address(given, OWN)
    assert "secret" not in str(raised.value)


def test_only_the_file_of_the_cache_is_its_own() -> None:
    assert [read_address(f"sqlite:///{path}", OWN).is_own for path in (OWN, "/cache/other.sqlite")] == [True, False]


def test_a_server_that_is_gone_is_asked_again_with_growing_pauses() -> None:
    clock, tries = Clock(), list[bool]()

    def once(again: bool) -> str:  # noqa: FBT001
        tries.append(again)
        if len(tries) < 5:
            raise gone()
        return "there"

    assert persistently(once, SERVER, clock.patience()) == "there"
    assert tries == [False, True, True, True, True]
    where = "the results database at postgresql://db.example/bisect"
    pauses = [f"{where} does not answer; asking again in {seconds} s" for seconds in (1, 2, 4)]
    assert clock.told == [*pauses, f"{where} answers again"]


def test_a_connection_that_broke_is_made_again_without_a_word() -> None:
    clock, errors = Clock(), [gone()]

    def once(_again: bool) -> str:  # noqa: FBT001
        if errors:
            raise errors.pop()
        return "there"

    assert persistently(once, SERVER, clock.patience()) == "there"
    assert (clock.told, clock.now) == ([], 0.0)


def test_a_server_that_stays_away_ends_the_run() -> None:
    clock = Clock()

    def once(_again: bool) -> None:  # noqa: FBT001
        raise gone("password secret is of no use: Connection refused")

    with pytest.raises(StoreUnreachable) as raised:
        persistently(once, SERVER, clock.patience(600.0))
    assert 570 < clock.now <= 600
    assert raised.value.where == "postgresql://db.example/bisect"
    assert "secret" not in str(raised.value)
    assert "bisect doctor" in raised.value.advice


@pytest.mark.parametrize(
    "text", ['FATAL: password authentication failed for user "me"', 'FATAL: database "x" does not exist']
)
def test_what_does_not_go_away_is_not_waited_for(text: str) -> None:
    clock = Clock()

    def once(_again: bool) -> None:  # noqa: FBT001
        raise gone(text)

    with pytest.raises(StoreUnreachable, match="FATAL"):
        persistently(once, SERVER, clock.patience())
    assert clock.told == []


def test_nobody_listens_there() -> None:
    nobody = StoreAddress(URL.create("postgresql+psycopg", host="127.0.0.1", port=9, database="x"))
    clock = Clock()
    with pytest.raises(StoreUnreachable, match="does not answer") as raised:
        open_results(nobody, nullcontext, patience=clock.patience())
    assert raised.value.where == "postgresql://127.0.0.1:9/x"
    assert 30 <= clock.now <= 60  # of a server that has not answered yet


def test_a_trial_whose_storing_was_not_confirmed_is_stored_once(postgres: PostgresServer) -> None:
    """The connection breaks after the server has written, before the answer is here."""
    clock = Clock()
    with (
        postgres.database() as address,
        closing(open_results(address, nullcontext, patience=clock.patience())) as results,
    ):
        left = [1]

        @event.listens_for(results.engine, "commit")
        def cut_off(connection: object) -> None:
            if left:
                left.pop()
                raw = connection.connection  # type: ignore[attr-defined]
                raw.commit()
                raise gone()

        results.add_trial(TRIAL)
        assert left == []
        assert results.trials_of("repro", "setting", "cpu") == [TRIAL]


def test_a_broken_connection_is_replaced(postgres: PostgresServer) -> None:
    clock = Clock()
    with (
        postgres.database() as address,
        closing(open_results(address, nullcontext, patience=clock.patience())) as results,
    ):
        results.add_trial(TRIAL)
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = '{}'"
        with closing(open_results(address, nullcontext)) as other, other.engine.connect() as connection:
            connection.exec_driver_sql(end.format(address.url.database))
        results.add_trial(replace(TRIAL, folder="trials/y"))
        assert len(results.trials_of("repro", "setting", "cpu")) == 2


def test_a_user_who_may_not_write(postgres: PostgresServer) -> None:
    with postgres.database(empty=True) as address:
        read_only = StoreAddress(address.url.update_query_dict({"options": "-c default_transaction_read_only=on"}))
        with pytest.raises(CacheNotWritable, match="read-only transaction") as raised:
            open_results(read_only, nullcontext)
    assert raised.value.where == str(address)


def test_a_database_that_is_not_there(postgres: PostgresServer) -> None:
    with pytest.raises(BisectError, match="does not exist"):
        open_results(postgres.address("no_such_database"), nullcontext)


def test_text_that_the_server_does_not_take_as_it_is(postgres: PostgresServer) -> None:
    odd = replace(TRIAL, command="a\0b", observation={"output": "\ud800 \0"}, case_name="x" * 1000)
    with postgres.database() as address, closing(open_results(address, nullcontext)) as results:
        results.add_trial(odd)
        assert results.trials_of("repro", "setting", "cpu") == [replace(odd, command="a\\x00b")]
        results.add_unusable(TRIAL.subject, "toy", "1.0", "a\0b")
        assert results.unusable("setting", "cpu") == {"sha256:abc": "a\\x00b"}


def test_a_file_is_never_waited_for(tmp_path: Path) -> None:
    clock = Clock()
    (tmp_path / "folder").mkdir()
    with pytest.raises(CacheNotWritable):
        open_results(file_address(tmp_path / "folder", is_own=False), nullcontext, patience=clock.patience())
    assert clock.told == []


def test_a_trial_that_nobody_could_store_is_stored_later(tmp_path: Path, address: StoreAddress) -> None:
    outbox = Outbox(tmp_path)
    (tmp_path / TRIAL.folder).mkdir(parents=True)
    outbox.keep(TRIAL, address)
    outbox.keep(replace(TRIAL, folder="trials/z"), SERVER)
    with open_results(address, nullcontext, outbox=outbox) as results:
        assert results.trials_of("repro", "setting", "cpu") == [TRIAL]
    with open_results(address, nullcontext, outbox=outbox) as results:
        assert results.trials_of("repro", "setting", "cpu") == [TRIAL]
    assert [trial.folder for _, trial in outbox.kept(SERVER)] == ["trials/z"]


def test_but_not_when_another_host_has_found_it_out_by_then(tmp_path: Path, address: StoreAddress) -> None:
    outbox = Outbox(tmp_path)
    of_other = replace(TRIAL, folder="trials/of-another-cache")
    (tmp_path / TRIAL.folder).mkdir(parents=True)
    outbox.keep(TRIAL, address)
    with open_results(address, nullcontext) as results:
        results.add_trial(of_other)
    with open_results(address, nullcontext, outbox=outbox) as results:
        assert results.trials_of("repro", "setting", "cpu") == [of_other]
    assert list(outbox.kept(address)) == []


def test_a_run_that_gave_up_keeps_its_trials_and_waits_no_more(tmp_path: Path, postgres: PostgresServer) -> None:
    clock, outbox = Clock(), Outbox(tmp_path)
    with postgres.database() as address:
        results = open_results(address, nullcontext, patience=clock.patience(600), outbox=outbox)
        results.database.close()
        postgres.stop()
        try:
            for folder in ("trials/1", "trials/2"):
                (tmp_path / folder).mkdir(parents=True)
                with pytest.raises(StoreUnreachable):
                    results.add_trial(replace(TRIAL, folder=folder))
            assert clock.now <= 600
        finally:
            postgres.start()
        results.send_kept()
        assert [trial.folder for trial in results.trials_of("repro", "setting", "cpu")] == ["trials/1", "trials/2"]
        results.close()
