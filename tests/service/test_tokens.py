"""Tokens and metrics on each kind of database."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from bisect_tool.errors import SettingError
from bisect_tool.service.metrics import Metrics
from bisect_tool.service.question import Asker
from bisect_tool.service.questions import Questions
from bisect_tool.service.tokens import Scope, Tokens
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import tokens as table
from tests.rig.asked import submission


@pytest.fixture
def tokens(database: Database) -> Tokens:
    return Tokens(database)


def test_a_token_expires_by_the_clock_of_the_database(tokens: Tokens) -> None:
    made = tokens.make("ann", [Scope.READ], days=1)
    assert tokens.find(made.text) is not None
    with tokens.database.engine.begin() as connection:
        connection.execute(update(table).values(expires=table.c.expires - 86401))
    assert tokens.find(made.text) is None
    assert [token.is_valid for token in tokens.all()] == [False]


def test_only_the_digest_is_kept(tokens: Tokens) -> None:
    made = tokens.make("ann", [Scope.READ, Scope.SUBMIT], seconds_a_day=3600)
    with tokens.database.engine.connect() as connection:
        row = str(connection.execute(select(table)).one())
    assert made.text not in row
    assert made.text.rpartition("_")[2] not in row
    assert made.text not in repr(made)
    found = tokens.find(made.text)
    assert found is not None
    assert (sorted(found.scopes), found.seconds_a_day) == ([Scope.READ, Scope.SUBMIT], 3600)
    assert found == made.token


def test_a_name_is_taken_once(tokens: Tokens) -> None:
    assert not tokens.are_there()
    first = tokens.make("ann", [Scope.READ])
    with pytest.raises(SettingError, match="already a token called ann"):
        tokens.make("ann", [Scope.READ])
    assert tokens.revoke("ann").is_valid is False
    with pytest.raises(SettingError, match="already a token called ann"):
        tokens.make("ann", [Scope.READ])
    with pytest.raises(SettingError, match="cannot be called"):
        tokens.make("ann\n", [Scope.READ])
    with pytest.raises(SettingError, match="no token called 'bob'"):
        tokens.revoke("bob")
    assert tokens.find(first.text) is None
    assert tokens.are_there()


def test_metrics_of_what_is_stored(database: Database) -> None:
    Questions(database).submit(submission(), Asker())
    lines = Metrics(database, lambda: 7).text().decode().splitlines()
    assert 'bisect_jobs{state="waiting"} 1.0' in lines
    assert 'bisect_questions{state="queued"} 1.0' in lines
    assert "bisect_event_streams 7.0" in lines
    assert any(line.startswith('bisect_queue_oldest_seconds{lane="cpu"} ') for line in lines)
    assert "bisect_workers 0.0" in lines
