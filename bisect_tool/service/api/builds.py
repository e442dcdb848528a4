"""The builds that are known, day by day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from bisect_tool.service.access import Here, Reader
from bisect_tool.service.api.models import moment
from bisect_tool.service.api.words import PLAIN, problems
from bisect_tool.service.calendar import (
    BuildOfDay,
    Calendar,
    Day,
    Standing,
    Stream,
    Use,
    read_calendar,
    read_streams,
)
from bisect_tool.service.problems import Refused

router = APIRouter(tags=["builds"])
MOST_DAYS = 400
USUAL_DAYS = 30
_Name = Annotated[str, Query(min_length=1, max_length=100, pattern=PLAIN)]


class StreamShown(BaseModel):
    """A package on a channel; `polled` is when it was last looked at, `error` why nobody answered then."""

    package: str
    channel: str
    newest: str | None
    polled: datetime | None
    error: str | None


class StreamList(BaseModel):
    """Every package and channel of which something is known, by name."""

    streams: list[StreamShown]


class UseShown(BaseModel):
    """A question whose answer looked at a build, and what it found there."""

    question: str
    name: str
    state: str
    reason: str | None


class BuildShown(BaseModel):
    """One build. `faults` say why it is known to be broken, `replaced` how often another file came under its name."""

    build: str
    status: str = Field(description="`listed`, `hidden` (there, but not listed), `gone`, `used` (by questions).")
    variant: str | None
    size: int | None = Field(description="Bytes.")
    replaced: int
    faults: list[str]
    uses: list[UseShown]


class DayShown(BaseModel):
    """One day: `there`, `broken` (no build of it can be used), `missing` (the channel has none), `none` (nothing is known)."""

    day: date
    standing: Standing
    builds: list[BuildShown]
    left_out: dict[str, str] = Field(description="Versions of the day that are no builds for us, with the reason.")


class CalendarShown(BaseModel):
    """The days from `first` to `last`, oldest first, and the builds without a date."""

    stream: StreamShown
    first: date
    last: date
    days: list[DayShown]
    undated: list[BuildShown]
    months: list[str] = Field(description="All months that have builds, as `2026-11`, oldest first.")


@router.get("/streams", responses=problems())
def list_streams(services: Here, _: Reader) -> StreamList:
    """The packages and channels of which something is known."""
    return StreamList(streams=[_stream(one) for one in read_streams(services.database)])


@router.get("/builds", responses=problems())
def get_builds(
    services: Here,
    _: Reader,
    package: _Name = "torch",
    channel: _Name = "nightly",
    first: Annotated[date | None, Query(description=f"Left out: {USUAL_DAYS} days before the last one.")] = None,
    last: Annotated[date | None, Query(description="Left out: today, in UTC.")] = None,
) -> CalendarShown:
    """The builds of a package day by day: there, missing or known to be broken, how big, and which questions used them."""
    end = last or datetime.fromtimestamp(services.clock(), UTC).date()
    begin = first or date.fromordinal(max(1, end.toordinal() - USUAL_DAYS))
    if not timedelta() <= end - begin <= timedelta(days=MOST_DAYS):
        raise Refused(
            422, f"`first` is not at most {MOST_DAYS} days before `last`", "ask for fewer days", where="first"
        )
    return _calendar(read_calendar(services.database, package, channel, begin, end))


def _calendar(found: Calendar) -> CalendarShown:
    return CalendarShown(
        stream=_stream(found.stream),
        first=found.first,
        last=found.last,
        days=[_day(day) for day in found.days],
        undated=[_build(one) for one in found.undated],
        months=list(found.months),
    )


def _stream(stream: Stream) -> StreamShown:
    names = ("package", "channel", "newest", "error")
    return StreamShown(**{name: getattr(stream, name) for name in names}, polled=moment(stream.polled))


def _day(day: Day) -> DayShown:
    builds = [_build(one) for one in day.builds]
    return DayShown(day=day.day, standing=day.standing, builds=builds, left_out=dict(day.left_out))


def _build(build: BuildOfDay) -> BuildShown:
    names = ("build", "status", "variant", "size", "replaced")
    values = {name: getattr(build, name) for name in names}
    return BuildShown(**values, faults=list(build.faults), uses=[_use(one) for one in build.uses])


def _use(use: Use) -> UseShown:
    return UseShown(question=use.question, name=use.name, state=use.state, reason=use.reason)
