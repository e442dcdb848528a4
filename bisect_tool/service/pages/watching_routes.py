"""What the service knows by watching: the builds of channels, and how often its own answers come out the same again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from bisect_tool.service.access import Here
from bisect_tool.service.accuracy import read_accuracy
from bisect_tool.service.api.words import PLAIN
from bisect_tool.service.calendar import read_calendar, read_months, read_streams
from bisect_tool.service.pages.accuracy_page import accuracy_page
from bisect_tool.service.pages.calendar_page import WEEKDAYS, calendar_page, month_of, stream_of
from bisect_tool.service.pages.page_route import PageRoute, Reader
from bisect_tool.service.pages.rendering import render

MOST_CHECKS = 20
router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/builds")
def show_builds(
    request: Request,
    services: Here,
    _visitor: Reader,
    of: Annotated[str, Query(max_length=200, pattern=PLAIN)] = "",
    month: Annotated[str, Query(max_length=20, pattern=PLAIN)] = "",
) -> Response:
    """The builds of a package on a channel (`of`: `package/channel`) in a month (`2026-11`; left out: the newest with any)."""
    streams = read_streams(services.database)
    stream = stream_of(of, streams)
    months = read_months(services.database, stream.package, stream.channel)
    chosen = month_of(month, months, datetime.fromtimestamp(services.clock(), UTC).date())
    found = read_calendar(services.database, stream.package, stream.channel, chosen.first, chosen.last, months)
    return render(request, "builds", shown=calendar_page(found, streams, chosen), weekdays=WEEKDAYS)


@router.get("/accuracy")
def show_accuracy(request: Request, services: Here, _visitor: Reader) -> Response:
    """How often old answers came out the same again."""
    return render(request, "accuracy", shown=accuracy_page(read_accuracy(services.database, last=MOST_CHECKS)))
