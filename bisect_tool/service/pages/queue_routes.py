"""The queue and the workers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from bisect_tool.service.access import Here
from bisect_tool.service.pages import reading
from bisect_tool.service.pages.page_route import PageRoute, Reader
from bisect_tool.service.pages.queue_page import queue_page
from bisect_tool.service.pages.rendering import render

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/workers")
def show_workers(request: Request, services: Here, _visitor: Reader) -> Response:
    """What runs, what waits and why, and who works."""
    return render(request, "workers", shown=queue_page(reading.works(services)))
