"""What is known without running anything, over HTTP: builds, accuracy."""

from __future__ import annotations

from dataclasses import replace

from fastapi.testclient import TestClient

from bisect_tool.service.app import make_app
from bisect_tool.service.services import Services
from tests.rig.opened_services import ADDRESS


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
