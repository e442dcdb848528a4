"""The web pages of the service: what it is asked and what it answers, for people. They read the same functions as the API."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from bisect_tool.service.pages.following import Following
from bisect_tool.service.pages.page_route import problem_page
from bisect_tool.service.pages.router import router
from bisect_tool.service.problems import not_found


def add_pages(app: FastAPI) -> None:
    """The pages, and pages for browsers where an address leads nowhere; programs are told as before."""
    app.state.following = Following()
    app.include_router(router)
    before = app.exception_handlers[HTTPException]

    def answer(request: Request, error: Exception) -> Response:
        is_browser = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
        if is_browser and isinstance(error, HTTPException) and error.status_code == HTTPStatus.NOT_FOUND:
            return problem_page(request, not_found("there is no such page", "look for it in the list of questions"))
        answered = before(request, error)
        assert isinstance(answered, Response)
        return answered

    app.add_exception_handler(HTTPException, answer)
