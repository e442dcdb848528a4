"""Streams of builds that are looked at from time to time, and what was seen in them.

A stream is a package on a channel, for one kind of machine and one Python. Times are those of the clock of the database.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import Connection, and_, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bisect_tool.builds.build import Build, LeftOut, LeftOutBecause, Listing, Machine, Wanted
from bisect_tool.builds.channel import Channel, open_channel
from bisect_tool.builds.fitting import target_for
from bisect_tool.runs.surveying import NIGHTLY
from bisect_tool.runs.workshop import Workshop
from bisect_tool.service.calendar import GONE, HIDDEN, LEFT_OUT, LISTED
from bisect_tool.store.database import Database
from bisect_tool.store.gathered import in_parts
from bisect_tool.store.service_tables import listed_builds, watched

LOOKS_BACK = timedelta(days=30)  # of nightlies, whose older dates cost requests
CPU = "cpu"
# Versions that nobody misses: they are no builds by their nature, or by what was asked for.
_UNTOLD = {LeftOutBecause.PRE_RELEASE, LeftOutBecause.DATE, LeftOutBecause.SAME_COMMIT, LeftOutBecause.NO_PYTHON}


@dataclass(frozen=True, slots=True, order=True)
class StreamKey:
    """Which stream: `device` is `cpu` or `cuda`, `variant` as in a spec, `python` a version, empty: that of the server."""

    package: str
    channel: str
    variant: str = "auto"
    device: str = CPU
    python: str = ""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream as it was seen last. `faults` counts the looks in a row that failed."""

    id: int
    key: StreamKey
    newest: str | None
    fresh: float | None
    replaced: float | None
    polled: float | None
    faults: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at a stream has shown: builds that were not there before, whose file is another one, that are gone."""

    new: tuple[str, ...]
    replaced: tuple[str, ...]
    gone: tuple[str, ...]


class Look(Protocol):
    """Looks at streams. Both raise what channels raise."""

    def listing(self, key: StreamKey) -> Listing:
        """The builds of a stream as they are now."""

    def size(self, key: StreamKey, build: Build) -> int | None:
        """How many bytes a build has, where the listing does not say so; one request."""


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams of a database. Every method raises what `Database` raises."""

    database: Database

    def due(self, keys: Iterable[StreamKey]) -> list[Stream]:
        """Those of these streams that are to be looked at now; one that was never looked at is."""
        wanted = sorted(set(keys))

        def change(connection: Connection) -> list[Stream]:
            for key in wanted:
                put = (postgresql if self.database.is_server else sqlite).insert(watched)
                row = {**asdict(key), "due": self.database.now(), "faults": 0}
                connection.execute(put.values(row).on_conflict_do_nothing())
            rows = connection.execute(
                select(watched).where(watched.c.due <= self.database.now()).order_by(watched.c.due)
            )
            return [one for row in rows if (one := _stream(row)).key in wanted]

        return self.database.write(change) if wanted else []

    def all(self) -> dict[StreamKey, Stream]:
        """Every stream, by its key."""
        rows = self.database.read(lambda connection: connection.execute(select(watched)).all())
        return {stream.key: stream for stream in map(_stream, rows)}

    def take(self, stream: Stream, listing: Listing, pause: float) -> Seen:
        """Keep what was listed; the next look is in `pause` seconds."""

        def change(connection: Connection) -> Seen:
            now = float(connection.execute(select(self.database.now())).scalar_one())
            seen = _compare(connection, stream.id, _rows(listing), now)
            newest = listing.builds[-1].label if listing.builds else stream.newest
            values: dict[str, Any] = {"newest": newest, "polled": now, "due": now + pause, "faults": 0, "error": None}
            if newest != stream.newest or seen.replaced:
                values["fresh"] = now
            if seen.replaced:
                values["replaced"] = now
            of_stream = update(watched).where(watched.c.id == stream.id)
            connection.execute(of_stream.values(source=listing.source, **values))
            return seen

        return self.database.write(change)

    def measured(self, stream: Stream, sizes: Mapping[str, int]) -> None:
        """Keep the sizes of builds, by their labels."""
        table = listed_builds

        def change(connection: Connection) -> None:
            for build, size in sizes.items():
                where = (table.c.stream == stream.id, table.c.build == build)
                connection.execute(update(table).where(*where).values(size=size))

        if sizes:
            self.database.write(change)

    def failed(self, stream: Stream, why: str, pause: float) -> None:
        """Note that nobody answered; the next look is in `pause` seconds."""
        now = self.database.now()
        values = {"polled": now, "due": now + pause, "faults": watched.c.faults + 1, "error": why}
        self.database.write(
            lambda connection: connection.execute(update(watched).where(watched.c.id == stream.id).values(values))
        )


@dataclass(frozen=True, slots=True)
class ChannelLook:
    """Looks as runs do: with the settings and the memory of the cache, which say what is asked again when."""

    workshop: Workshop
    today: Callable[[], date] = lambda: datetime.now(UTC).date()

    def listing(self, key: StreamKey) -> Listing:
        """The listing of the channel; of nightlies that of the last days."""
        python = key.python or platform.python_version()
        since = (self.today() - LOOKS_BACK).isoformat() if key.channel == NIGHTLY else None
        machine = Machine(key.device)
        wanted = Wanted(key.package, target_for(python), variant=key.variant, from_=since, machine=machine)
        return self._channel(key).listing(wanted)

    def size(self, key: StreamKey, build: Build) -> int | None:
        """The size of the file as its place has it."""
        return self._channel(key).current(build).size

    def _channel(self, key: StreamKey) -> Channel:
        return open_channel(key.channel, self.workshop.means().access)


def _stream(row: Any) -> Stream:
    key = StreamKey(row.package, row.channel, row.variant, row.device, row.python)
    return Stream(row.id, key, row.newest, row.fresh, row.replaced, row.polled, row.faults)


def _rows(listing: Listing) -> dict[str, dict[str, Any]]:
    """What is kept of a listing, by build."""
    rows = {build.label: _build_row(build) for build in listing.builds}
    for left in listing.left_out:
        if left.because not in _UNTOLD and left.version not in rows:
            rows[left.version] = _left_row(left)
    return rows


def _build_row(build: Build) -> dict[str, Any]:
    status = HIDDEN if build.hidden else LISTED
    facts = {"day": _day(build.date), "variant": build.variant, "identity": build.identity, "size": build.size}
    return {"build": build.label, "status": status, "because": None, **facts}


def _left_row(left: LeftOut) -> dict[str, Any]:
    because = f"{left.because.value}{f' ({left.detail})' if left.detail else ''}"
    nothing = {"variant": None, "identity": None, "size": None}
    return {"build": left.version, "status": LEFT_OUT, "because": because, "day": _day(left.date), **nothing}


def _day(when: datetime | None) -> str | None:
    return when.date().isoformat() if when else None


def _compare(connection: Connection, stream: int, rows: dict[str, dict[str, Any]], now: float) -> Seen:
    """Write down what differs from what was there, within a transaction."""
    table = listed_builds
    known = {row.build: row for row in connection.execute(select(table).where(table.c.stream == stream))}
    added = [row for build, row in rows.items() if build not in known]
    if added:
        common = {"stream": stream, "replaced": 0, "first_seen": now, "last_seen": now}
        connection.execute(insert(table), [{**row, **common} for row in added])
    replaced, fresh = [], [row["build"] for row in added if row["status"] != LEFT_OUT]
    for build, row in rows.items():
        if (before := known.get(build)) is None:
            continue
        is_other = _is_other(before.identity, row["identity"])
        replaced += [build] if is_other else []
        fresh += [build] if before.status in {LEFT_OUT, GONE} and row["status"] != LEFT_OUT else []
        if is_other or any(getattr(before, name) != value for name, value in row.items()):
            kept = {**row, "identity": row["identity"] or before.identity, "replaced": before.replaced + is_other}
            kept["size"] = row["size"] or (None if is_other else before.size)
            connection.execute(update(table).where(table.c.id == before.id).values(kept))
    for part in in_parts(rows):
        connection.execute(update(table).where(table.c.stream == stream, table.c.build.in_(part)).values(last_seen=now))
    gone = _gone(connection, stream, known.values(), rows)
    return Seen(tuple(fresh), tuple(replaced), gone)


def _is_other(before: str | None, after: str | None) -> bool:
    """Whether a file was replaced; one that could not be told apart is none."""
    return before is not None and after is not None and before != after


def _gone(
    connection: Connection, stream: int, known: Iterable[Any], rows: dict[str, dict[str, Any]]
) -> tuple[str, ...]:
    """Mark those that were listed and are not any more, as far back as the listing goes."""
    first = min(_days(rows.values()), default=None)
    missing = [one.build for one in known if one.build not in rows and one.status in {LISTED, HIDDEN}]
    within = (
        or_(listed_builds.c.day.is_(None), listed_builds.c.day >= first) if first else listed_builds.c.day.is_(None)
    )
    gone: list[str] = []
    for part in in_parts(missing):
        there = and_(listed_builds.c.stream == stream, listed_builds.c.build.in_(part), within)
        gone += connection.execute(select(listed_builds.c.build).where(there)).scalars()
        connection.execute(update(listed_builds).where(there).values(status=GONE))
    return tuple(gone)


def _days(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield from (row["day"] for row in rows if row["day"] is not None)
