"""What prometheus may ask for: requests as they are counted here, and the queue as the database has it at the moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import Connection, func, select

from bisect_tool.service.question import JobState, QuestionState
from bisect_tool.store.database import Database
from bisect_tool.store.service_tables import jobs, questions, workers

if TYPE_CHECKING:
    from prometheus_client.core import Metric

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
metrics._use_created = False  # noqa: SLF001  the function that sets it has no types; a second line for each counter, which says when it began
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of one process, in a registry of its own; `open_streams` says how many there are now."""

    database: Database
    open_streams: Callable[[], int]
    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    _requests: Counter = field(init=False)
    _seconds: Histogram = field(init=False)

    def __post_init__(self) -> None:
        own = self.registry
        requests = Counter(
            "bisect_http_requests", "Requests that have ended.", ["method", "route", "status"], registry=own
        )
        seconds = Histogram(
            "bisect_http_request_seconds",
            "Seconds for one request.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=own,
        )
        streams = Gauge("bisect_event_streams", "Streams of events that are open in this process.", registry=own)
        streams.set_function(self.open_streams)
        object.__setattr__(self, "_requests", requests)
        object.__setattr__(self, "_seconds", seconds)
        self.registry.register(_Stored(self.database))

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        method = method if method in _METHODS else "other"  # a client may write anything there
        self._requests.labels(method, route, status).inc()
        if "/events" not in route:  # a stream lasts as long as somebody watches
            self._seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """All metrics, as prometheus reads them."""
        return generate_latest(self.registry)


@dataclass(frozen=True, slots=True)
class _Stored(Collector):
    """The metrics that are read from the database when somebody asks."""

    database: Database

    def describe(self) -> Iterator[Metric]:
        """Nothing: else the registry would read the database when this is registered."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        """What holds now."""
        yield from self.database.read(_read(self.database))


def _read(database: Database) -> Callable[[Connection], list[Metric]]:
    def read(connection: Connection) -> list[Metric]:
        return [
            _counted(connection, "bisect_questions", "Questions by state.", questions, QuestionState),
            _counted(connection, "bisect_jobs", "Jobs by state.", jobs, JobState),
            _oldest(connection, database),
            _workers(connection, database),
        ]

    return read


def _counted(connection: Connection, name: str, meaning: str, table: object, states: type) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=["state"])
    column = table.c.state  # type: ignore[attr-defined]
    rows = connection.execute(select(column, func.count()).group_by(column)).all()
    found = {state: count for state, count in rows}  # noqa: C416  a row is no pair for the types
    for state in states:  # type: ignore[attr-defined]
        family.add_metric([state.value], found.get(state.value, 0))
    return family


def _oldest(connection: Connection, database: Database) -> Metric:
    family = GaugeMetricFamily("bisect_queue_oldest_seconds", "Age of the oldest job that waits.", labels=["lane"])
    age = database.now() - func.min(jobs.c.queued)
    waiting = select(jobs.c.lane, age).where(jobs.c.state == JobState.WAITING).group_by(jobs.c.lane)
    for lane, seconds in connection.execute(waiting):
        family.add_metric([lane], seconds)
    return family


def _workers(connection: Connection, database: Database) -> Metric:
    alive = select(func.count()).where(workers.c.beat + workers.c.span >= database.now())
    return GaugeMetricFamily("bisect_workers", "Workers that are alive.", value=connection.execute(alive).scalar_one())
