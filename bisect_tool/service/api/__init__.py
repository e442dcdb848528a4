"""The HTTP API, under `/api/v1`: one file for each kind of thing that can be asked for."""

from __future__ import annotations

from fastapi import APIRouter

from bisect_tool.service.api import (
    accuracy,
    answers,
    badges,
    builds,
    evidence,
    lookups,
    questions,
    streams,
    watches,
    work,
)

PREFIX = "/api/v1"

router = APIRouter(prefix=PREFIX)
for part in (questions, lookups, answers, streams, evidence, badges, builds, watches, work, accuracy):
    router.include_router(part.router)
