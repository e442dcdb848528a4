"""The HTTP API, under `/api/v1`: one file for each kind of thing that can be asked for."""

from __future__ import annotations

from fastapi import APIRouter

PREFIX = "/api/v1"

router = APIRouter(prefix=PREFIX)
