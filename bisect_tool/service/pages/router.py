"""The addresses of the pages, one file for each kind."""

from __future__ import annotations

from fastapi import APIRouter

from bisect_tool.service.pages import (
    ask_routes,
    history_routes,
    question_routes,
    queue_routes,
    sign_in_routes,
    static_route,
    watching_routes,
)

router = APIRouter()
for part in (question_routes, history_routes, ask_routes, queue_routes, sign_in_routes, watching_routes, static_route):
    router.include_router(part.router)
