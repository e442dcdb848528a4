"""Forgetting what nobody needs any more: a bounded piece at a time, so that nobody waits for it.

`docs/service-queue.md` says what is forgotten when. What is sent is sent once for all that: nothing is forgotten by which a
repeated delivery, a job that was told, or a comment of ours on GitHub is known again, as long as any of these may come.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, delete, select, update

from bisect_tool.service.asking import AskedState
from bisect_tool.service.posts import PostKind, PostState
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import asked, deliveries, job_events, jobs, posts, told

DAY = 86_400.0
EVERY = 3600.0  # seconds between two rounds
ROWS = 500  # of a transaction
TRANSACTIONS = 20  # of a turn
_OVER = (PostState.SENT, PostState.DRY, PostState.LEFT, PostState.FAILED)
_SETTLED = (AskedState.SETTLED, AskedState.REFUSED)

Step = Callable[[Connection], int]


@dataclass(slots=True)
class Upkeep:
    """Forgets what is older than `keep` seconds. `clock` gives seconds that never jump; the age goes by that of the database.

    Every method raises what `Database` raises.
    """

    database: Database
    keep: float
    clock: Callable[[], float] = time.monotonic
    rows: int = ROWS
    transactions: int = TRANSACTIONS
    _due: float | None = None
    _left: list[tuple[str, Step]] = field(default_factory=list)
    _removed: Counter[str] = field(default_factory=Counter)
    _seen: int = 0

    @property
    def turn_is_due(self) -> bool:
        """Whether a round is under way, or it is time for the next one."""
        return bool(self._left) or self._due is None or self.clock() >= self._due

    def turn(self) -> str:
        """Go on with the round, or begin one when it is time; gives what a round has removed, at its end, else nothing."""
        if not self.turn_is_due:
            return ""
        if not self._left:
            self._due, self._seen, self._removed = self.clock() + EVERY, 0, Counter()
            self._left = self._steps()
        for _ in range(self.transactions):
            name, step = self._left[0]
            count = self.database.write(step)
            if count < 0:
                continue  # nothing of this piece, but there are others
            self._removed[name] += count
            if count < self.rows:
                self._left.pop(0)
            if not self._left:
                return ", ".join(f"{many} {what}" for what, many in self._removed.items() if many)
        return ""

    def _steps(self) -> list[tuple[str, Step]]:
        """What is removed, in this order: a command is forgotten before the reply to it, which it could bring about again."""
        old = self.database.now() - self.keep
        is_over = posts.c.state.in_(_OVER) & (posts.c.not_before < old)
        is_quiet = ~_at_work(posts.c.question, old)
        is_asked = select(asked.c.id).where(asked.c.question == posts.c.question).exists()
        replies = posts.c.kind.in_((PostKind.REPLY, PostKind.REACTION)) & is_quiet & ~is_asked
        commands = asked.c.state.in_(_SETTLED) & (asked.c.received < old) & ~_at_work(asked.c.question, old)
        return [
            ("deliveries", self._rows(deliveries, deliveries.c.id, deliveries.c.received < old)),
            ("commands", self._rows(asked, asked.c.id, commands)),
            ("replies", self._rows(posts, posts.c.id, is_over & replies)),
            ("calls of webhooks", self._rows(posts, posts.c.id, is_over & (posts.c.kind == PostKind.WEBHOOK))),
            ("texts of comments", self._texts(is_over & (posts.c.kind == PostKind.COMMENT) & (posts.c.body != ""))),
            ("jobs that were told", self._rows(told, told.c.job, told.c.at < old)),
            ("events", self._events),
        ]

    def _rows(self, table: Table, key: ColumnElement[Any], is_old: ColumnElement[bool]) -> Step:
        some = select(key).where(is_old).order_by(key).limit(self.rows)
        # Both: a row that somebody changes in the meantime is looked at again, and only the outer condition is.
        removed = delete(table).where(key.in_(some), is_old)
        return lambda connection: connection.execute(removed).rowcount

    def _texts(self, is_old: ColumnElement[bool]) -> Step:
        """A comment of ours is known by its row for ever: it is edited, and not written again. Its text is not needed."""
        some = select(posts.c.id).where(is_old).order_by(posts.c.id).limit(self.rows)
        emptied = update(posts).where(posts.c.id.in_(some), is_old).values(body="")
        return lambda connection: connection.execute(emptied).rowcount

    def _events(self, connection: Connection) -> int:
        """The events of questions on which nobody works; -1 when there may be more, as ids are walked through once."""
        old = self.database.now() - self.keep
        part = select(job_events.c.id, (job_events.c.at < old).label("is_old")).where(job_events.c.id > self._seen)
        found = connection.execute(part.order_by(job_events.c.id).limit(self.rows)).all()
        last = _last_old(found)
        if last is None:
            return 0
        busy = select(jobs.c.id).where(jobs.c.question == job_events.c.question, jobs.c.ended.is_(None)).exists()
        within = (job_events.c.id > self._seen, job_events.c.id <= last, job_events.c.at < old)
        count = connection.execute(delete(job_events).where(*within, ~busy)).rowcount
        self._seen = last
        self._removed["events"] += count
        return 0 if len(found) < self.rows else -1


def _at_work(question: ColumnElement[str], since: ColumnElement[float]) -> ColumnElement[bool]:
    """Whether somebody works on a question, or has since then: a watched one is looked at again and again."""
    is_recent = jobs.c.ended.is_(None) | (jobs.c.ended > since)
    return select(jobs.c.id).where(jobs.c.question == question, is_recent).exists()


def _last_old(found: Iterable[Row[int, bool]]) -> int | None:
    """The last id of the old ones, which come first."""
    old = [row[0] for row in takewhile(lambda row: row[1], found)]
    return old[-1] if old else None
