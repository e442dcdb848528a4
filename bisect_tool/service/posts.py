"""The outbox: what is to be told to others, kept until it was.

A post is a row that says what somebody is to read. Whoever sends one takes it for `SPAN` seconds, so that two servers never
work on the same; a sender that was killed leaves its post to the next one, which first looks whether it arrived. What was
decided once is not decided again: the key of a post says what it is about, and there is one post of each key.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, case, func, or_, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from bisect_tool.store.database import Database
from bisect_tool.store.records import storable
from bisect_tool.store.service_tables import posts

SPAN = 180.0  # seconds that a sender has for one post; each of its requests takes a minute at most
DAY = 86400.0


class PostKind(StrEnum):
    """How something is told."""

    COMMENT = "comment"  # the answer, on an issue
    REPLY = "reply"  # to a command that led to no answer
    REACTION = "reaction"  # to a command
    WEBHOOK = "webhook"


class PostState(StrEnum):
    """How far it is."""

    WAITING = "waiting"  # to be sent, or to be sent again
    SENT = "sent"
    DRY = "dry"  # it would have been sent; nothing is
    LEFT = "left"  # it will not be sent, for a reason that `error` tells
    FAILED = "failed"  # it could not be sent, and is not tried again


@dataclass(frozen=True, slots=True)
class NewPost:
    """Something to tell. `gist`: a later post of the same key with the same gist says nothing new."""

    key: str
    kind: PostKind
    address: str
    question: str
    body: str
    gist: str = ""


@dataclass(frozen=True, slots=True)
class Post:
    """A post as it is kept. Times are seconds since 1970 by the clock of the database; `remote` is what it became there.

    `created`: when a comment was about to be made for it, which counts for the day.
    """

    id: int
    key: str
    kind: PostKind
    address: str
    question: str
    body: str
    gist: str
    state: PostState
    remote: str | None
    lease: str | None
    created: float | None
    attempts: int
    not_before: float
    made: float
    sent: float | None
    error: str | None


_COLUMNS = (
    "id", "key", "kind", "address", "question", "body", "gist", "state", "remote", "lease", "created", "attempts", "not_before",
    "made", "sent", "error",
)  # fmt: skip


def key_of(*parts: str) -> str:
    """The key of what is about all of these: 64 hexadecimal digits."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def follower_key(key: str) -> str:
    """The key of the post that takes the place of one that was left."""
    return key_of("after", key)


WAS_EDITED = "was edited by somebody else"


class LeaseOver(Exception):
    """Another sender has taken the post over."""


@dataclass(frozen=True, slots=True)
class Posts:
    """The posts of a database; `span` are the seconds after which another sender takes a post over."""

    database: Database
    span: float = SPAN

    def add(self, connection: Connection, post: NewPost, *, is_dry: bool = False) -> None:
        """Put a post into the outbox, within a transaction.

        One of the same key is there already: its text is replaced where the gist is another one, so that it will be sent again,
        unless it was left. A `dry` one is never sent.
        """
        state = PostState.DRY if is_dry else PostState.WAITING
        now = self.database.now()
        row = {"key": post.key, "kind": post.kind, "address": post.address, "question": post.question}
        changing = {
            "body": storable(post.body),
            "gist": post.gist,
            "state": state,
            "attempts": 0,
            "not_before": now,
            "error": None,
        }
        dialect = postgresql if self.database.is_server else sqlite
        put = dialect.insert(posts).values(**row, **changing, made=now)
        put = put.on_conflict_do_update(
            index_elements=["key"],
            set_=changing,
            where=(posts.c.gist != post.gist) & (posts.c.state != PostState.LEFT),
        )
        connection.execute(put)

    def present_key(self, connection: Connection, key: str) -> str:
        """The key of the post that has taken the place of `key`, within a transaction; itself where none has."""
        return self.line(connection, key)[-1]

    def line(self, connection: Connection, key: str) -> list[str]:
        """`key`, and the keys of the posts that have taken its place one after the other, within a transaction."""
        found = [key]
        while connection.execute(select(posts.c.id).where(posts.c.key == follower_key(found[-1]))).first() is not None:
            found.append(follower_key(found[-1]))
        return found

    def take(self, kinds: Sequence[PostKind] = tuple(PostKind)) -> Post | None:
        """Take the post of these kinds that has waited longest; None when none is to be sent now."""
        lease = uuid.uuid4().hex
        now = self.database.now()
        is_free = (
            (posts.c.state == PostState.WAITING)
            & (posts.c.not_before <= now)
            & or_(posts.c.lease.is_(None), posts.c.until < now)
        )
        first = (
            select(posts.c.id).where(is_free, posts.c.kind.in_(kinds)).order_by(posts.c.not_before, posts.c.id).limit(1)
        )

        def ours(connection: Connection) -> Post | None:
            return _first(connection, posts.c.lease == lease)

        def take_one(connection: Connection) -> Post | None:
            found = connection.execute(first).scalar()
            if found is None:
                return None
            taken = update(posts).where(posts.c.id == found, is_free).values(lease=lease, until=now + self.span)
            connection.execute(taken)
            return ours(connection)  # None when another sender was quicker: there will be a next time

        return self.database.write(take_one, was_done=ours)

    def keep(self, post: Post) -> None:
        """Have `SPAN` seconds more for a post that was taken. Raises `LeaseOver`."""
        self._change(post, until=self.database.now() + self.span)

    def reserve(self, post: Post, repository: str, most: int) -> float | None:
        """Count a comment that is about to be made on this day of a repository; None when it may be made.

        Otherwise the seconds until it may, because `most` were made in the last 24 hours. What was counted once is not counted
        again. Raises `LeaseOver`.
        """
        if most < 1:
            return DAY
        now = self.database.now()
        others = (posts.c.repository == repository, posts.c.created > now - DAY, posts.c.id != post.id)
        made = select(func.count()).select_from(posts).where(*others)
        oldest = (
            select(posts.c.created - now + DAY)
            .where(*others)
            .order_by(posts.c.created.desc())
            .offset(most - 1)
            .limit(1)
        )

        def count(connection: Connection) -> float | None:
            if self.database.is_server:  # SQLite has one writer at a time; here two could count at the same moment
                connection.execute(
                    text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": f"bisect {repository}"}
                )
            self._changed(connection, post, repository=repository, created=func.coalesce(posts.c.created, now))
            is_counted = post.created is not None or connection.execute(made).scalar_one() < most
            if is_counted:
                return None
            self._changed(connection, post, created=None)
            return max(1.0, float(connection.execute(oldest).scalar() or DAY))

        return self.database.write(count)

    def sent(self, post: Post, remote: str | None) -> None:
        """Note that it arrived. What was changed in the meantime is sent next."""
        is_same = posts.c.gist == post.gist
        self._change(
            post,
            remote=remote if remote is not None else posts.c.remote,
            state=case((is_same, PostState.SENT), else_=posts.c.state),
            sent=self.database.now(),
            lease=None,
            error=None,
        )

    def later(self, post: Post, seconds: float, why: str, *, counts: bool = True) -> None:
        """Try it again after so many seconds; `counts`: as one of its attempts."""
        tried = posts.c.attempts + (1 if counts else 0)
        self._change(post, not_before=self.database.now() + seconds, lease=None, error=why, attempts=tried)

    def end(self, post: Post, state: PostState, why: str) -> None:
        """It is left, dry, or has failed for good."""
        self._change(post, state=state, lease=None, error=why)

    def replace(self, post: Post, why: str, follower: NewPost) -> None:
        """Leave a post, and send another one in its place."""

        def change(connection: Connection) -> None:
            self._changed(connection, post, state=PostState.LEFT, lease=None, error=why)
            self.add(connection, follower)

        self.database.write(change)

    def hold(self, kinds: Sequence[PostKind], seconds: float, why: str) -> None:
        """Send nothing of these kinds for so many seconds: whoever receives them wants to hear nothing for a while."""
        until = self.database.now() + seconds
        waiting = update(posts).where(posts.c.state == PostState.WAITING, posts.c.kind.in_(kinds))
        held = waiting.where(posts.c.not_before < until).values(not_before=until, error=why)
        self.database.write(lambda connection: connection.execute(held))

    def all(self, *, question: str | None = None, state: PostState | None = None, most: int = 100) -> list[Post]:
        """Posts, newest first."""
        conditions = [posts.c.question == question] if question is not None else []
        conditions += [posts.c.state == state] if state is not None else []
        query = _select(*conditions).order_by(posts.c.id.desc()).limit(most)
        return self.database.read(lambda connection: [_post(row) for row in connection.execute(query).mappings()])

    def get(self, number: int) -> Post | None:
        """The post of this id."""
        return self._one(posts.c.id == number)

    def of_key(self, key: str) -> Post | None:
        """The post of this key."""
        return self._one(posts.c.key == key)

    def at(self, connection: Connection, key: str) -> Post | None:
        """The post of this key, within a transaction."""
        return _first(connection, posts.c.key == key)

    def _one(self, condition: ColumnElement[bool]) -> Post | None:
        return self.database.read(lambda connection: _first(connection, condition))

    def _change(self, post: Post, **values: Any) -> None:
        # After a lost answer the lease may be gone because it was given back by ourselves: then it is done.
        self.database.write(
            lambda connection: self._changed(connection, post, **values),
            was_done=lambda connection: self._is_given_back(connection, post) or None,
        )

    def _changed(self, connection: Connection, post: Post, **values: Any) -> None:
        change = update(posts).where(posts.c.id == post.id, posts.c.lease == post.lease).values(**values)
        if connection.execute(change).rowcount != 1:
            raise LeaseOver(post.key)

    def _is_given_back(self, connection: Connection, post: Post) -> bool:
        query = select(posts.c.lease).where(posts.c.id == post.id)
        return connection.execute(query).scalar() is None


def _select(*conditions: ColumnElement[bool]) -> Any:
    return select(*(posts.c[name] for name in _COLUMNS)).where(*conditions)


def _first(connection: Connection, condition: ColumnElement[bool]) -> Post | None:
    row = connection.execute(_select(condition)).mappings().first()
    return None if row is None else _post(row)


def _post(row: RowMapping) -> Post:
    return Post(**{**row, "kind": PostKind(row["kind"]), "state": PostState(row["state"])})
