"""The builds of a package day by day: there, missing or known to be broken, how big, and which questions looked at them.

Everything comes from the database: what the watcher saw when it looked at a channel (`listed_builds`), what answers looked at
(`used_builds`), and which builds cannot be used (`unusable`). Nothing is asked over the network when a page is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum

from sqlalchemy import Connection, func, select, union

from bisect_tool.store import service_tables as tables
from bisect_tool.store.database import Database
from bisect_tool.store.tables import unusable

LISTED, HIDDEN, LEFT_OUT, GONE = "listed", "hidden", "left out", "gone"


class Standing(StrEnum):
    """What a day has.

    `THERE`: a build that may be used. `BROKEN`: builds, and none of them can be used. `MISSING`: the channel was looked at and
    has no build of that day. `NONE`: nothing is known.
    """

    THERE = "there"
    BROKEN = "broken"
    MISSING = "missing"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Listed:
    """A build, or a version that is none, as it was listed when somebody looked. `day` as in ISO 8601; `size` in bytes."""

    build: str
    day: str | None
    status: str
    variant: str | None = None
    identity: str | None = None
    size: int | None = None
    because: str | None = None
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class Use:
    """A question whose answer looked at a build, and what it found there (`pass`, `failing`, `flaky`, `untestable`)."""

    question: str
    name: str
    build: str
    day: str | None
    state: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a build cannot be used; `everywhere` is false when only hosts of some kind have shown it."""

    build: str
    identity: str
    reason: str
    everywhere: bool = True


@dataclass(frozen=True, slots=True)
class BuildOfDay:
    """One build. `status`: `listed`, `hidden` (there, but not listed), `gone` (not listed any more), `used` (by questions).

    `faults` are the reasons why it is known to be broken. `replaced` is how often another file came under its name.
    """

    build: str
    status: str
    variant: str | None
    size: int | None
    replaced: int
    faults: tuple[str, ...]
    uses: tuple[Use, ...]

    @property
    def is_broken(self) -> bool:
        """Whether it is known that it cannot be used."""
        return bool(self.faults)


@dataclass(frozen=True, slots=True)
class Day:
    """One day, its builds, and why others of that day are none (`left_out`: version and reason)."""

    day: date
    builds: tuple[BuildOfDay, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def standing(self) -> Standing:
        """What the day has."""
        if self.builds:
            return Standing.BROKEN if all(one.is_broken for one in self.builds) else Standing.THERE
        return Standing.MISSING if self.left_out else Standing.NONE

    @property
    def uses(self) -> int:
        """How many questions looked at builds of the day."""
        return len({use.question for one in self.builds for use in one.uses})


@dataclass(frozen=True, slots=True)
class Stream:
    """A package on a channel; `polled` is when it was last looked at (seconds since 1970), `error` why nobody answered then."""

    package: str
    channel: str
    newest: str | None = None
    polled: float | None = None
    error: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days from `first` to `last`, oldest first, and the builds without a date (`undated`).

    `months` are all months that have builds, as `2026-11`, oldest first.
    """

    stream: Stream
    first: date
    last: date
    days: tuple[Day, ...]
    undated: tuple[BuildOfDay, ...] = ()
    months: tuple[str, ...] = ()


def calendar_of(
    stream: Stream, listed: Iterable[Listed], uses: Iterable[Use], faults: Iterable[Fault], first: date, last: date
) -> Calendar:
    """The calendar from rows; those of other days are passed over."""
    rows, used = _merged(listed), _by_build(uses)
    broken: defaultdict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        broken[fault.build].append(fault)
    builds: defaultdict[str | None, list[BuildOfDay]] = defaultdict(list)
    left_out: defaultdict[str | None, list[tuple[str, str]]] = defaultdict(list)
    for row in rows.values():
        if row.status == LEFT_OUT and row.build not in used:
            left_out[row.day].append((row.build, row.because or "left out"))
        else:
            builds[row.day].append(_build(row, used.get(row.build, ()), broken.get(row.build, ())))
    for build, several in used.items():
        if build not in rows:
            row = Listed(build, several[0].day, "used")
            builds[row.day].append(_build(row, several, broken.get(build, ())))
    count = (last - first).days + 1
    days = [(first + timedelta(days=number)).isoformat() for number in range(max(0, count))]
    return Calendar(
        stream,
        first,
        last,
        tuple(Day(date.fromisoformat(day), tuple(builds[day]), tuple(left_out[day])) for day in days),
        tuple(builds[None]),
    )


def read_streams(database: Database) -> list[Stream]:
    """Every package and channel of which something is known, by name."""
    return database.read(_streams)


def read_calendar(
    database: Database, package: str, channel: str, first: date, last: date, months: tuple[str, ...] | None = None
) -> Calendar:
    """The calendar of a package on a channel; empty days where nothing is known. `months` of whoever has read them already."""

    def read(connection: Connection) -> Calendar:
        known = {(one.package, one.channel): one for one in _streams(connection)}
        stream = known.get((package, channel), Stream(package, channel))
        span = (first.isoformat(), last.isoformat())
        listed = _listed(connection, package, channel, span)
        uses = _uses(connection, package, channel, span)
        faults = _faults(connection, package, {one.build for one in listed} | {one.build for one in uses})
        found = calendar_of(stream, listed, uses, faults, first, last)
        return replace(found, months=_months(connection, package, channel) if months is None else months)

    return database.read(read)


def read_months(database: Database, package: str, channel: str) -> tuple[str, ...]:
    """As `Calendar.months`."""
    return database.read(lambda connection: _months(connection, package, channel))


def _months(connection: Connection, package: str, channel: str) -> tuple[str, ...]:
    build, watched = tables.listed_builds.c, tables.watched.c
    listed = (
        select(func.substr(build.day, 1, 7))
        .join_from(tables.listed_builds, tables.watched, build.stream == watched.id)
        .where(watched.package == package, watched.channel == channel, build.day.is_not(None))
        .where(build.status != LEFT_OUT)
    )
    use, question = tables.used_builds.c, tables.questions.c
    used = (
        select(func.substr(use.day, 1, 7))
        .join_from(tables.used_builds, tables.questions, use.question == question.id)
        .where(question.package == package, use.channel == channel, use.day.is_not(None))
    )
    return tuple(sorted(connection.execute(union(listed, used)).scalars()))


def _merged(listed: Iterable[Listed]) -> dict[str, Listed]:
    """One row for each build: that of a stream that has it before that of one that has not."""
    rows: dict[str, Listed] = {}
    for row in listed:
        before = rows.get(row.build)
        if before is None or (before.status in {LEFT_OUT, GONE} and row.status not in {LEFT_OUT, GONE}):
            rows[row.build] = row
    return rows


def _by_build(uses: Iterable[Use]) -> dict[str, list[Use]]:
    found: defaultdict[str, list[Use]] = defaultdict(list)
    for use in uses:
        found[use.build].append(use)
    return found


def _build(row: Listed, uses: Sequence[Use], faults: Sequence[Fault]) -> BuildOfDay:
    of_this_file = [one for one in faults if row.identity is None or one.identity == row.identity]
    reasons = (one.reason if one.everywhere else f"{one.reason} (on some hosts)" for one in of_this_file)
    status = GONE if row.status == LEFT_OUT else row.status  # somebody has used it
    return BuildOfDay(
        row.build, status, row.variant, row.size, row.replaced, tuple(dict.fromkeys(reasons)), tuple(uses)
    )


def _streams(connection: Connection) -> list[Stream]:
    watched, question = tables.watched.c, tables.questions.c
    found: dict[tuple[str, str], Stream] = {}
    asked = select(question.package, question.channel).distinct()
    for row in connection.execute(asked):
        for channel in row.channel.split(", "):
            found[row.package, channel] = Stream(row.package, channel)
    for row in connection.execute(select(tables.watched).order_by(watched.polled, watched.id)):
        found[row.package, row.channel] = Stream(
            row.package, row.channel, row.newest, row.polled, row.error, row.source
        )
    return [found[key] for key in sorted(found)]


def _listed(connection: Connection, package: str, channel: str, span: tuple[str, str]) -> list[Listed]:
    build, watched = tables.listed_builds.c, tables.watched.c
    columns = (build.build, build.day, build.status, build.variant, build.identity, build.size, build.because)
    query = (
        select(*columns, build.replaced)
        .join_from(tables.listed_builds, tables.watched, build.stream == watched.id)
        .where(watched.package == package, watched.channel == channel)
        .where(build.day.is_(None) | build.day.between(*span))
        .order_by(build.day, build.id)
    )
    return [Listed(*row) for row in connection.execute(query)]


def _uses(connection: Connection, package: str, channel: str, span: tuple[str, str]) -> list[Use]:
    use, question = tables.used_builds.c, tables.questions.c
    query = (
        select(use.question, question.name, use.build, use.day, use.state, use.reason)
        .join_from(tables.used_builds, tables.questions, use.question == question.id)
        .where(question.package == package, use.channel == channel)
        .where(use.day.is_(None) | use.day.between(*span))
        .order_by(use.day, use.build, question.name, use.question)
    )
    return [Use(*row) for row in connection.execute(query)]


def _faults(connection: Connection, package: str, builds: set[str]) -> list[Fault]:
    """Those of the builds; a label may name the Python that the build runs on."""
    labels: defaultdict[str, list[str]] = defaultdict(list)
    for label in builds:
        labels[label.partition(" ")[0]].append(label)
    table = unusable.c
    query = select(table.version, table.identity, table.reason, table.host).where(table.package == package)
    rows = connection.execute(query.order_by(table.id))
    return [
        Fault(label, row.identity, row.reason, everywhere=not row.host)
        for row in rows
        for label in labels.get(row.version, ())
    ]
