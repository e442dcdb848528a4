"""The web pages of the service: what it is asked and what it answers, for people. They read the same functions as the API."""

from __future__ import annotations

from fastapi import FastAPI

from bisect_tool.service.pages.following import Following
from bisect_tool.service.pages.router import router


def add_pages(app: FastAPI) -> None:
    """The pages."""
    app.state.following = Following()
    app.include_router(router)
