"""The files that pages load, for everybody."""

from __future__ import annotations

from fastapi import APIRouter, Response

from bisect_tool.service.pages.page_route import PageRoute
from bisect_tool.service.pages.static_files import A_DAY, FOREVER, static_file
from bisect_tool.service.problems import not_found

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/favicon.ico")
def show_mark() -> Response:
    """The picture that a browser asks for where no page names one: beside a log."""
    mark = show_static("mark.svg")
    mark.headers["Cache-Control"] = A_DAY  # its address does not change with it
    return mark


@router.get("/static/{name}")
def show_static(name: str) -> Response:
    """One file; its address changes with its content, so that it is kept for ever."""
    found = static_file(name)
    if found is None:
        raise not_found("there is no such file", "go to the list of questions")
    return Response(
        found.content, media_type=found.media, headers={"Cache-Control": FOREVER, "X-Content-Type-Options": "nosniff"}
    )
