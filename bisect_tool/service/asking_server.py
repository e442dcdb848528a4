"""Asking a server: `POST /api/v1/lookups`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from pydantic import TypeAdapter, ValidationError

from bisect_tool.errors import ServerRefused, ServerUnreachable
from bisect_tool.service.client import PAUSES, Client, NotThere
from bisect_tool.service.finding import Finding, Findings, Lookups, Query

PATIENCE = PAUSES[:3]  # seconds: somebody waits for a look-up, and a server that is started again is back by then


def ask_server(client: Client, queries: Sequence[Query]) -> list[Finding]:
    """What a server knows about each query, in their order. Raises `ServerUnreachable`, `ServerRefused`."""
    try:
        told = client.post("/lookups", asdict(Lookups(tuple(queries))))
    except NotThere as error:
        raise ServerRefused(
            "the server does not know look-ups", where=client.address, advice="it is of an older version: update it"
        ) from error
    try:
        findings = list(TypeAdapter(Findings).validate_python(told).findings)
    except ValidationError as error:
        raise _not_an_answer(client) from error
    if len(findings) != len(queries):
        raise _not_an_answer(client)
    return findings


def open_server(address: str, token: str | None, tell: Callable[[str], None]) -> Client:
    """The client; `tell` hears why it waits."""
    return Client(address, token, tell=tell, pauses=PATIENCE)


def _not_an_answer(client: Client) -> ServerUnreachable:
    return ServerUnreachable(
        "the answer is not one to a look-up",
        where=client.address,
        advice="use the version of bisect that the server has",
    )
