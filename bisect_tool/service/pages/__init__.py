"""The web pages of the service: what it is asked and what it answers, for people. They read the same functions as the API."""

from __future__ import annotations

from bisect_tool.service.pages.page_route import answer_browsers_with_pages
from bisect_tool.service.pages.router import router

__all__ = ["answer_browsers_with_pages", "router"]
