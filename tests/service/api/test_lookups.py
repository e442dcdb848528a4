"""Look-ups over HTTP."""

from __future__ import annotations

from fastapi.testclient import TestClient

from bisect_tool.service.finding import MOST_QUERIES

LOOKUPS = "/api/v1/lookups"


def test_a_finding_for_each_query(client: TestClient) -> None:
    queries = [{"text": "diagonal_scatter", "label": "first"}, {"text": "torch", "by": "package", "most": 1}]
    told = client.post(LOOKUPS, json={"queries": queries})
    assert told.status_code == 200
    assert [(one["query"], one["by"], one["found"]) for one in told.json()["findings"]] == [
        ("first", "name", "no"), ("torch", "package", "no"),
    ]  # fmt: skip


def test_too_many_queries(client: TestClient) -> None:
    for queries in ([], [{"text": "x"}] * (MOST_QUERIES + 1), [{"text": ""}], [{"text": "x", "by": "magic"}]):
        assert client.post(LOOKUPS, json={"queries": queries}).status_code == 422
    assert client.post(LOOKUPS, json={"queries": [{"text": "x\0y"}] * MOST_QUERIES}).status_code == 200
