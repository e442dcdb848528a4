"""Asking a server: `POST /api/v1/lookups`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from bisect_tool.errors import ServerUnreachable
from bisect_tool.service.finding import Finding, Findings, Lookups, Query

if TYPE_CHECKING:
    from bisect_tool.service.client import Client


def ask_server(client: Client, queries: Sequence[Query]) -> list[Finding]:
    """What a server knows about each query. Raises `ServerUnreachable`, `ServerRefused`."""
    told = client.post("/lookups", asdict(Lookups(tuple(queries))))
    try:
        return list(TypeAdapter(Findings).validate_python(told).findings)
    except ValidationError as error:
        raise ServerUnreachable(
            "the answer is not one to a look-up",
            where=client.address,
            advice="use the version of bisect that the server has",
        ) from error


def open_server(address: str, token: str | None, tell: Callable[[str], None]) -> Client:
    """The client; `tell` hears why it waits."""
    from bisect_tool.service.client import Client

    return Client(address, token, tell=tell)
