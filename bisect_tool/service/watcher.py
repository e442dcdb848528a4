"""The thread of a server that takes answers in, looks at channels, has old answers run again, and forgets what is old.

It does so in one server at a time.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from sqlalchemy.exc import SQLAlchemyError

from bisect_tool.errors import BisectError
from bisect_tool.runs.workshop import Workshop
from bisect_tool.service.answers import Answers
from bisect_tool.service.reviews import ReviewRules, Reviews
from bisect_tool.service.streams import ChannelLook, Streams
from bisect_tool.service.upkeep import Upkeep
from bisect_tool.service.watches import DAY, Watches, Watching, WatchRules
from bisect_tool.stopping import Cancelled, Stop
from bisect_tool.store.database import Database
from bisect_tool.store.leases import Lease, LeaseKeeper, LeaseLost, keep

KEY = "watches"  # of the lease
PAUSE = 10.0  # seconds between two turns
PICKS = 600.0  # seconds between two looks for answers to be reviewed
JOIN = 5.0  # seconds that a look at a channel may take to end; it is left alone after that, and has changed nothing


@dataclass
class Watcher:
    """Works in turns while it holds the lease; `tell` takes lines for the log, `clock` gives seconds that never jump."""

    answers: Answers
    watching: Watching
    reviews: Reviews
    leases: LeaseKeeper
    tell: Callable[[str], None] = lambda _line: None
    clock: Callable[[], float] = time.monotonic
    upkeep: Upkeep | None = None
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
                except Cancelled:
                    return
                except Exception as error:  # noqa: BLE001  one row that cannot be read may not end all watching
                    self.tell(f"watches: a defect: {type(error).__name__}: {error}")
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
        if self.upkeep is not None and (removed := self.upkeep.turn()):
            self.tell(f"removed what is older than {self.upkeep.keep / DAY:.0f} days: {removed}")
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


def watcher_of(workshop: Workshop, database: Database, leases: LeaseKeeper, tell: Callable[[str], None]) -> Watcher:
    """A watcher with the settings of a workshop."""
    settings = workshop.settings
    rules = WatchRules(every=float(settings.watch_every), lasts=settings.watch_days * DAY)
    watching = Watching(Watches(database, rules), Streams(database), ChannelLook(workshop), random.Random())  # noqa: S311  it spreads looks
    reviews = Reviews(database, ReviewRules(share=settings.reviews))
    upkeep = Upkeep(database, settings.keep_days * DAY)
    return Watcher(Answers(database), watching, reviews, leases, tell, upkeep=upkeep)


@contextmanager
def watching(workshop: Workshop, tell: Callable[[str], None]) -> Iterator[None]:
    """While the context lasts a thread watches, with connections of its own; `tell` takes lines for the log."""
    with workshop.results(tell) as results:
        keeper = LeaseKeeper(results.database, workshop.settings.lease)
        stop, watcher = Stop(), watcher_of(workshop, results.database, keeper, tell)
        thread = threading.Thread(target=watcher.work, args=(stop,), name="watches", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(JOIN)
            keeper.close()
