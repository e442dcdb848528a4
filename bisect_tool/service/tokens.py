"""Tokens: who may do what. Of a token only the digest is kept; its text is shown once, when it is made."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, RowMapping, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bisect_tool.errors import SettingError
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import tokens

_FORM = re.compile(r"bisect_([0-9a-f]{16})_[A-Za-z0-9_-]{43}\Z")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}\Z")


class Scope(StrEnum):
    """What a token allows. None of them includes another, but for `ADMIN`, which includes all."""

    READ = "read"  # questions, answers, evidence, events
    SUBMIT = "submit"  # ask a question: its code will run here
    WORK = "work"  # cancel a question, try it again
    ADMIN = "admin"  # everything


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept. Times are seconds since 1970 by the clock of the database; `is_valid`: at the moment of asking.

    `seconds_a_day` is how long workers may work for it in a day, None: without a bound.
    """

    id: str
    name: str
    scopes: frozenset[Scope]
    seconds_a_day: float | None
    created: float
    expires: float | None
    revoked: float | None
    is_valid: bool


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made; `text` is what its owner sends, and is shown only now."""

    text: str = field(repr=False)
    token: Token


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a database."""

    database: Database

    def make(
        self, name: str, scopes: Collection[Scope], *, days: float | None = None, seconds_a_day: float | None = None
    ) -> NewToken:
        """Make a token that is valid for so many days, None: until it is revoked.

        Raises `SettingError` for a name that is taken.
        """
        if not NAME.match(name):
            raise SettingError(
                f"a token cannot be called {name[:100]!r}",
                advice="use at most 100 letters, digits, `.`, `_`, `@` and `-`, beginning with a letter or digit",
            )
        number = secrets.token_hex(8)
        text = f"bisect_{number}_{secrets.token_urlsafe(32)}"
        now = self.database.now()
        row = {
            "id": number,
            "name": name,
            "digest": _digest(text),
            "scopes": sorted(scopes),
            "seconds_a_day": seconds_a_day,
            "created": now,
            "expires": None if days is None else now + days * 86400,
        }
        put = (postgresql if self.database.is_server else sqlite).insert(tokens).values(row).on_conflict_do_nothing()
        own = select(tokens.c.id).where(tokens.c.id == number)

        def is_there(connection: Connection) -> bool:
            return connection.execute(own).first() is not None

        def change(connection: Connection) -> bool:
            connection.execute(put)
            return is_there(connection)

        if not self.database.write(change, was_done=lambda connection: is_there(connection) or None):
            raise SettingError(
                f"there is already a token called {name}",
                advice="choose another name; that of a revoked one stays taken",
            )
        made = next(token for token in self.all() if token.id == number)
        return NewToken(text, made)

    def find(self, text: str) -> Token | None:
        """The valid token with this text, None without one. The digests are compared in constant time."""
        match = _FORM.match(text)
        if match is None:
            return None
        rows = self._rows(tokens.c.id == match[1])
        for row in rows:
            if hmac.compare_digest(str(row["digest"]), _digest(text)):
                token = _token(row)
                return token if token.is_valid else None
        return None

    def all(self) -> list[Token]:
        """Every token, also those that are not valid any more, in the order of their names."""
        return [_token(row) for row in self._rows()]

    def are_there(self) -> bool:
        """Whether any token was ever made: then nobody comes in without one."""
        return bool(self._rows())

    def revoke(self, name: str) -> Token:
        """End a token now. Raises `SettingError` when there is none of that name."""
        change = update(tokens).where(tokens.c.name == name, tokens.c.revoked.is_(None))
        self.database.write(lambda connection: connection.execute(change.values(revoked=self.database.now())))
        found = [token for token in self.all() if token.name == name]
        if not found:
            raise SettingError(
                f"there is no token called {name[:100]!r}", advice="`bisect token list` shows all of them"
            )
        return found[0]

    def _rows(self, *conditions: Any) -> list[RowMapping]:
        now = self.database.now()
        ended = tokens.c.revoked.is_not(None) | (tokens.c.expires.is_not(None) & (tokens.c.expires <= now))
        query = select(tokens, ended.label("ended")).where(*conditions).order_by(tokens.c.name)

        def ask(connection: Connection) -> list[RowMapping]:
            return list(connection.execute(query).mappings())

        return self.database.read(ask)


def _token(row: RowMapping) -> Token:
    return Token(
        id=row["id"],
        name=row["name"],
        scopes=frozenset(Scope(scope) for scope in row["scopes"]),
        seconds_a_day=row["seconds_a_day"],
        created=row["created"],
        expires=row["expires"],
        revoked=row["revoked"],
        is_valid=not row["ended"],
    )


def _digest(text: str) -> str:
    # The text is 256 random bits: nobody can guess it from a digest, so that no slow hash is needed.
    return sha256(text.encode()).hexdigest()
