"""Asking a server: `POST /api/v1/lookups`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from bisect_tool.errors import IndexUnreachable
from bisect_tool.service.finding import Finding, Findings, Lookups, Query

TOKEN = "BISECT_TOKEN"  # noqa: S105  the name of a variable
SECONDS = 30


def ask_server(server: str, queries: Sequence[Query], environ: Mapping[str, str]) -> list[Finding]:
    """What a server knows. The token is taken from `BISECT_TOKEN`. Raises `IndexUnreachable`."""
    import requests
    from pydantic import TypeAdapter, ValidationError

    address = f"{server.rstrip('/')}/api/v1/lookups"
    headers = {"Authorization": f"Bearer {environ[TOKEN]}"} if environ.get(TOKEN) else {}
    try:
        response = requests.post(address, json=asdict(Lookups(tuple(queries))), headers=headers, timeout=SECONDS)
        response.raise_for_status()
        return list(TypeAdapter(Findings).validate_json(response.content).findings)
    except (requests.RequestException, ValidationError) as error:
        raise IndexUnreachable(
            f"the server did not answer the look-up: {str(error).splitlines()[0]}",
            where=address,
            advice="look whether `bisect serve` runs there, and whether BISECT_TOKEN is one of its tokens",
        ) from error
