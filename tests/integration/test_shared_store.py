"""Hosts that share a store: each is a process with a cache of its own; the database is a real PostgreSQL server."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text

from bisect_tool.store.address import StoreAddress
from tests.integration.conftest import Place, failing, history, kill
from tests.rig.postgres import PostgresServer

MAIN = [{"name": "main", "args": ["main"]}]
WAITS = "another run works on the same question"
CHANGE = [("1.3", "1.4")]
SHORT = ("--trust", "--scan", "0", "--ahead", "off")


@pytest.fixture
def store(postgres: PostgresServer) -> Iterator[StoreAddress]:
    with postgres.database() as address:
        yield address


@pytest.fixture
def database(store: StoreAddress) -> Iterator[Engine]:
    engine = create_engine(store.url)
    yield engine
    engine.dispose()


@pytest.fixture
def hosts(place: Place, store: StoreAddress) -> Callable[[str], Place]:
    """Makes a host of that name."""
    place.publish(history(6, failing([4, 5])))

    def host(name: str) -> Place:
        root = place.root / name
        root.mkdir()
        extra = {
            "BISECT_STORE": store.url.render_as_string(hide_password=False),
            "BISECT_LOGS": str(place.root / "logs"),
            "BISECT_LEASE": "100000",
        }
        return Place(root, place.index, extra)

    return host


def start(host: Place, *words: str | Path) -> subprocess.Popen[str]:
    return host.start("run", host.spec(cases=MAIN, from_="1.0"), "--plain", "--json", host.root / "out.json", *words)


def finished(host: Place, process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, out + err
    return dict(json.loads((host.root / "out.json").read_text()))


def wait_for(database: Engine, statement: str) -> None:
    """Until it gives a row."""
    for _ in range(600):
        with database.connect() as connection:
            if connection.execute(text(statement)).first():
                return
        time.sleep(0.05)
    raise AssertionError(statement)


def paused_at_work(database: Engine, process: subprocess.Popen[str]) -> None:
    """Stop a run while it has a lease: nothing of it goes on."""
    while True:
        wait_for(database, "SELECT 1 FROM leases")
        process.send_signal(signal.SIGSTOP)
        with database.connect() as connection:
            if connection.execute(text("SELECT 1 FROM leases")).first():
                return
        process.send_signal(signal.SIGCONT)


def silence(database: Engine) -> None:
    """As if whoever holds a lease had been silent for longer than its span."""
    with database.begin() as connection:
        connection.execute(text("UPDATE leases SET beat = beat - 2 * span"))


def read_until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            return
    raise AssertionError("".join(lines))


def counts(database: Engine) -> Counter[str]:
    with database.connect() as connection:
        return Counter(connection.execute(text("SELECT version FROM trials")).scalars())


def found(answer: dict[str, Any]) -> list[tuple[str, str]]:
    episodes = [episode for failure in answer["failures"] for episode in failure["episodes"]]
    return [(one["appeared"]["last_without"], one["appeared"]["first_with"]) for one in episodes]


def test_two_hosts_make_every_trial_once_and_a_third_needs_none(
    hosts: Callable[[str], Place], database: Engine
) -> None:
    pair = [hosts("a"), hosts("b")]
    runs = [start(host) for host in pair]
    answers = [finished(host, run) for host, run in zip(pair, runs, strict=True)]
    assert answers[0]["failures"] == answers[1]["failures"]
    made = counts(database)
    assert made == {**dict.fromkeys(made, 1), "1.3": 3, "1.4": 3}  # both sides of the change are run again twice
    assert sum(answer["counts"]["trials"] for answer in answers) == made.total()
    third = hosts("c")
    answer = finished(third, start(third))
    assert answer["failures"] == answers[0]["failures"]
    assert answer["counts"]["trials"] == 0
    assert list((third.cache / "environments").iterdir()) == []
    logs = [entry["log"] for entry in answer["cases"][0]["timeline"] if entry["log"]]
    assert len(logs) == len(made)
    assert all(Path(log).is_file() and Path(log).is_relative_to(third.root.parent / "logs") for log in logs)
    assert third.run("replay", "last", "--quiet").status == 0


def test_the_work_of_a_host_that_was_killed_is_taken_over(hosts: Callable[[str], Place], database: Engine) -> None:
    dying, other = hosts("a"), hosts("b")
    first = start(dying, *SHORT)
    paused_at_work(database, first)  # nothing of it ends while the other one starts
    second = start(other, *SHORT)
    read_until(second, WAITS)
    kill(first)
    silence(database)
    assert found(finished(other, second)) == CHANGE
    assert max(counts(database).values()) == 1


def test_a_host_that_was_paused_stores_nothing_twice(hosts: Callable[[str], Place], database: Engine) -> None:
    paused, other = hosts("a"), hosts("b")
    first = start(paused, *SHORT)
    paused_at_work(database, first)
    silence(database)
    assert found(finished(other, start(other, *SHORT))) == CHANGE
    first.send_signal(signal.SIGCONT)
    assert found(finished(paused, first)) == CHANGE
    assert max(counts(database).values()) == 1


def test_a_server_that_is_gone_for_a_while_costs_nothing(
    hosts: Callable[[str], Place], database: Engine, postgres: PostgresServer
) -> None:
    host = hosts("a")
    run = start(host, *SHORT)
    wait_for(database, "SELECT 1 FROM trials")
    database.dispose()
    postgres.stop()
    try:
        read_until(run, "does not answer; asking again in")
    finally:
        postgres.start()
    assert found(finished(host, run)) == CHANGE
    assert max(counts(database).values()) == 1
