"""The thread of a server that takes answers in, looks at channels, and has old answers run again: in one server at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from sqlalchemy.exc import SQLAlchemyError

from bisect_tool.errors import BisectError
from bisect_tool.service.answers import Answers
from bisect_tool.service.reviews import Reviews
from bisect_tool.service.watches import Watching
from bisect_tool.stopping import Cancelled, Stop
from bisect_tool.store.leases import Lease, LeaseKeeper, LeaseLost, keep

KEY = "watches"  # of the lease
PAUSE = 10.0  # seconds between two turns
PICKS = 600.0  # seconds between two looks for answers to be reviewed


@dataclass
class Watcher:
    """Works in turns while it holds the lease; `tell` takes lines for the log, `clock` gives seconds that never jump."""

    answers: Answers
    watching: Watching
    reviews: Reviews
    leases: LeaseKeeper
    tell: Callable[[str], None] = lambda _line: None
    clock: Callable[[], float] = time.monotonic
    _lease: Lease | None = field(default=None, init=False)
    _picked: float | None = field(default=None, init=False)

    def work(self, stop: Stop) -> None:
        """Until `stop` is set. A database that does not answer is asked again."""
        try:
            while not stop.is_set:
                try:
                    self.turn()
                except (BisectError, SQLAlchemyError) as error:
                    self.tell(f"watches: {error}")
                with suppress(Cancelled):
                    stop.sleep(PAUSE)
        finally:
            self.close()

    def turn(self) -> bool:
        """Do what is due; False when another server does. Raises what `Database` raises."""
        if not self._is_ours():
            return False
        for answer in self.answers.take_in():
            for news in answer.news:
                self.tell(f"{answer.question}: {news.sentence}")
        for review in self.reviews.conclude():
            self.tell(f"{review.question}: reviewed, {review.found.verdict}")
        for job in self.watching.turn():
            self.tell(f"{job.question}: asked again for new builds, job {job.id}")
        if self._picked is None or self.clock() - self._picked >= PICKS:
            self._picked = self.clock()
            for question in self.reviews.pick():
                self.tell(f"{question}: its answer is reviewed")
        return True

    def close(self) -> None:
        """Let another server go on."""
        if self._lease is not None:
            self.leases.release(self._lease)
            self._lease = None

    def _is_ours(self) -> bool:
        """Whether the lease is ours, taken now if it is free. One that was taken over meanwhile is noticed."""
        database = self.answers.database
        if self._lease is not None:
            lease = self._lease
            try:
                database.write(lambda connection: keep(connection, lease, database.now()))
            except LeaseLost:
                self._lease = None
        if self._lease is None:
            self._lease = self.leases.take(KEY, "watches")
        return self._lease is not None
