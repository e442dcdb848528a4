"""The builds of a package, month by month, as their page shows them. Pure."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from bisect_tool.quantities import format_size
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.service.calendar import BuildOfDay, Calendar, Day, Standing, Stream, Use
from bisect_tool.service.pages.chips import Chip

MOST_USES = 8  # questions that are named for a build
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTH = re.compile(r"(20[0-9]{2})-(0[1-9]|1[0-2])\Z")
_STANDINGS = {
    Standing.THERE: Chip("✓", "there", "good"),
    Standing.BROKEN: Chip("✗", "broken", "bad"),
    Standing.MISSING: Chip("–", "missing", "unsure"),
    Standing.NONE: Chip("·", "not known", "plain"),
}


@dataclass(frozen=True, slots=True)
class Month:
    """A month of a year."""

    year: int
    month: int

    @property
    def first(self) -> date:
        """Its first day."""
        return date(self.year, self.month, 1)

    @property
    def last(self) -> date:
        """Its last day."""
        return date(self.year, self.month, calendar.monthrange(self.year, self.month)[1])

    @property
    def words(self) -> str:
        """`November 2026`."""
        return f"{self.first:%B %Y}"

    @property
    def key(self) -> str:
        """`2026-11`."""
        return f"{self.first:%Y-%m}"


@dataclass(frozen=True, slots=True)
class Cell:
    """A day in the picture of the month; `day` is None for the blank ones before the first. `told` are a few short lines."""

    day: date | None
    kind: str = ""
    sign: str = ""
    word: str = ""
    told: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """The id of its first row in the table below."""
        return f"d{self.day:%d}" if self.day else ""


@dataclass(frozen=True, slots=True)
class BuildRow:
    """A build, or a version that is none; `uses` are (id, name, state) of questions, `more_uses` are not named."""

    anchor: str
    day: str
    build: str
    chip: Chip
    size: str
    remarks: tuple[str, ...]
    uses: tuple[Use, ...] = ()
    more_uses: int = 0


@dataclass(frozen=True, slots=True)
class CalendarPage:
    """What the page shows; `streams` are (value, words, chosen) of the form.

    `earlier` and `later` are the addresses of the next months that have builds, None where there is none.
    """

    month: Month
    earlier: str | None
    later: str | None
    streams: tuple[tuple[str, str, bool], ...]
    told: str
    cells: tuple[Cell, ...]
    rows: tuple[BuildRow, ...]
    is_known: bool


def month_of(text: str, months: Sequence[str], now: date) -> Month:
    """The month that the address names, else the newest of `months`, which have builds, else that of `now`."""
    found = _MONTH.match(text) or (_MONTH.match(months[-1]) if months else None)
    return Month(int(found[1]), int(found[2])) if found else Month(now.year, now.month)


def stream_of(text: str, streams: Sequence[Stream]) -> Stream:
    """The stream `package/channel` that the address names; else torch's nightlies, else the first that there is."""
    by_key = {_key(stream): stream for stream in streams}
    usual = Stream("torch", "nightly")
    return by_key.get(text) or by_key.get(_key(usual)) or (streams[0] if streams else usual)


def calendar_page(found: Calendar, streams: Sequence[Stream], month: Month) -> CalendarPage:
    """The page of one month."""
    before = [key for key in found.months if key < month.key]
    after = [key for key in found.months if key > month.key]
    rows = tuple(row for day in found.days for row in _rows(day))
    return CalendarPage(
        month=month,
        earlier=_address(found.stream, before[-1]) if before else None,
        later=_address(found.stream, after[0]) if after else None,
        streams=tuple((_key(one), f"{one.package}, {one.channel}", _key(one) == _key(found.stream)) for one in streams),
        told=_told(found.stream),
        cells=(*(Cell(None) for _ in range(month.first.weekday())), *(_cell(day) for day in found.days)),
        rows=rows + tuple(_row("", "", build) for build in found.undated),
        is_known=bool(rows or found.undated),
    )


def _key(stream: Stream) -> str:
    return f"{stream.package}/{stream.channel}"


def _address(stream: Stream, month: str) -> str:
    return f"/builds?{urlencode({'of': _key(stream), 'month': month})}"


def _told(stream: Stream) -> str:
    source = f" at {stream.source}" if stream.source else ""
    if stream.error:
        return f"The channel{source} did not answer when it was looked at last: {one_line(clean(stream.error), 200)}"
    newest = f"; the newest build is {stream.newest}" if stream.newest else ""
    return (
        f"The channel{source} is watched{newest}."
        if stream.polled
        else "Nobody watches this channel: only builds that answers looked at are here."
    )


def _cell(day: Day) -> Cell:
    chip = _STANDINGS[day.standing]
    return Cell(day.day, day.standing.value, chip.sign, chip.word, tuple(_lines(day)))


def _lines(day: Day) -> Iterator[str]:
    sizes = sorted({build.size for build in day.builds if build.size})
    if len(day.builds) > 1:
        yield f"{len(day.builds)} builds"
    if sizes:
        yield format_size(sizes[0]) if len(sizes) == 1 else f"{format_size(sizes[0])} to {format_size(sizes[-1])}"
    broken = sum(build.is_broken for build in day.builds)
    if 0 < broken < len(day.builds):
        yield f"✗ {broken} broken"
    if day.uses:
        yield f"{day.uses} {'question' if day.uses == 1 else 'questions'}"


def _rows(day: Day) -> Iterator[BuildRow]:
    anchor, when = f"d{day.day:%d}", day.day.isoformat()
    for build in day.builds:
        yield _row(anchor, when, build)
        anchor = ""  # an id is there once
    for version, reason in day.left_out:
        yield BuildRow(anchor, when, version, Chip("–", "no build", "unsure"), "", (one_line(clean(reason), 300),))
        anchor = ""


def _row(anchor: str, when: str, build: BuildOfDay) -> BuildRow:
    return BuildRow(
        anchor=anchor,
        day=when,
        build=build.build,
        chip=Chip("✗", "broken", "bad") if build.is_broken else _of_status(build.status),
        size=format_size(build.size) if build.size else "",
        remarks=tuple(one_line(clean(text), 300) for text in _remarks(build)),
        uses=build.uses[:MOST_USES],
        more_uses=max(0, len(build.uses) - MOST_USES),
    )


def _of_status(status: str) -> Chip:
    match status:
        case "listed":
            return Chip("✓", "listed", "good")
        case "hidden":
            return Chip("✓", "there, not listed", "good")
        case "gone":
            return Chip("–", "not listed any more", "unsure")
        case _:
            return Chip("·", "seen by questions", "plain")


def _remarks(build: BuildOfDay) -> Iterator[str]:
    yield from build.faults
    if build.replaced:
        times = "once" if build.replaced == 1 else f"{build.replaced} times"
        yield f"another file came under its name {times}"
