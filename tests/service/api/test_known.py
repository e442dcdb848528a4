"""What is known without running anything, over HTTP: look-ups, builds, accuracy."""

from __future__ import annotations

from dataclasses import replace

from fastapi.testclient import TestClient

from bisect_tool.service.app import make_app
from bisect_tool.service.finding import MOST_QUERIES
from bisect_tool.service.services import Services
from tests.rig.opened_services import ADDRESS

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


def test_the_days_of_a_package(services: Services) -> None:
    client = TestClient(make_app(replace(services, clock=lambda: 1_796_000_000.0)), base_url=ADDRESS)
    told = client.get("/api/v1/builds").json()
    assert (told["first"], told["last"], len(told["days"])) == ("2026-10-31", "2026-11-30", 31)
    assert {day["standing"] for day in told["days"]} == {"none"}
    some = client.get("/api/v1/builds", params={"first": "2026-01-01", "last": "2026-01-02", "package": "toy"}).json()
    assert (some["stream"]["package"], [day["day"] for day in some["days"]]) == ("toy", ["2026-01-01", "2026-01-02"])
    for first, last in (("2026-01-02", "2026-01-01"), ("2020-01-01", "2026-01-01"), ("x", "y")):
        assert client.get("/api/v1/builds", params={"first": first, "last": last}).status_code == 422
    assert client.get("/api/v1/streams").json() == {"streams": []}


def test_nothing_measured_yet(client: TestClient) -> None:
    told = client.get("/api/v1/accuracy").json()
    assert (told["answers"]["share"], told["answers"]["low"], told["answers"]["high"]) == (None, 0.0, 1.0)
    assert (told["coverage"]["asked"], told["last"]) == (0, [])
