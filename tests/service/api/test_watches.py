"""What the API tells of watches, reviews and builds."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from bisect_tool.service.answers import Answers
from bisect_tool.service.question import Asker, Purpose
from bisect_tool.service.reviews import Reviews
from bisect_tool.service.services import Services
from tests.rig.answers import answer
from tests.rig.service_scene import ClockedDatabase, Scene

API = "/api/v1"


@pytest.fixture
def at(services: Services) -> Scene:
    """A scripted clock on the database of the server."""
    opened = services.database
    return Scene(ClockedDatabase(opened.engine, opened.address, opened.patience))


def test_what_was_answered_when(at: Scene, client: TestClient) -> None:
    question = at.answered(answer("✓A"))
    Answers(at.database).take_in()
    at.hand.move(days=1)
    at.questions.retry(question, Asker("ann"), fresh=False)
    at.finish(answer("✓A✓"), Purpose.ANSWER)
    Answers(at.database).take_in()
    told = client.get(f"{API}/questions/{question}/history").json()
    last, first = told["answers"]
    assert (last["before"], last["at"], last["open"], first["open"]) == (first["run"], "2026-01-11T12:00:00Z", 0, 1)
    assert [(one["event"], one["details"]["first_without"], one["sentence"]) for one in last["news"]] == [
        ("failure.fixed", "1.2", "zero-grad (repro) is fixed in 1.2: 1.1 is the last build with it")
    ]
    assert told["doubt"] is None
    earlier = client.get(f"{API}/questions/{question}/history/{first['run']}").json()
    assert [len(case["timeline"]) for case in earlier["cases"]] == [2]
    assert client.get(f"{API}/questions/{question}/history/{'0' * 32}").status_code == 404


def test_whether_a_question_is_watched(at: Scene, client: TestClient) -> None:
    question = at.answered(answer("✓A"))
    Answers(at.database).take_in()
    address = f"{API}/questions/{question}/watch"
    assert client.put(address, json={"watch": False}).json() == {
        "is_on": False, "open": 1, "chosen": False, "until": None,
    }  # fmt: skip
    assert client.put(address, json={"watch": True}).json()["is_on"]
    assert client.put(address, json={"watch": None}).json()["chosen"] is None
    assert client.put(address, json={"watch": 7}).status_code == 422
    assert client.get(f"{API}/questions/q{'0' * 20}/watch").status_code == 404


def test_an_answer_in_doubt_is_in_the_accuracy(at: Scene, client: TestClient) -> None:
    question = at.answered(answer("✓A"))
    Answers(at.database).take_in()
    at.hand.move(days=2)
    Reviews(at.database).pick()
    at.finish(answer("✓✓"), Purpose.VERIFY)
    Reviews(at.database).conclude()
    told = client.get(f"{API}/accuracy").json()
    assert (told["answers"]["differs"], told["answers"]["share"]) == (1, 0.0)
    assert [one["question"] for one in told["doubted"]] == [question]
    assert (told["last"][0]["verdict"], told["last"][0]["is_doubted"]) == ("differs", True)
    doubt = client.get(f"{API}/questions/{question}/history").json()["doubt"]
    assert (doubt["verdict"], doubt["checks"][0]["note"]) == (
        "differs",
        "1.1: pass, the answer rests on failing (=zero-grad)",
    )


def test_the_builds_day_by_day(at: Scene, client: TestClient) -> None:
    question = at.answered(answer("✓A?", channel="nightly"))
    Answers(at.database).take_in()
    assert [one["package"] for one in client.get(f"{API}/streams").json()["streams"]] == ["toy"]
    wanted = {"package": "toy", "first": "2026-01-02", "last": "2026-01-04"}
    told = client.get(f"{API}/builds", params=wanted).json()
    assert [(day["day"], day["standing"]) for day in told["days"]] == [
        ("2026-01-02", "there"),
        ("2026-01-03", "there"),
        ("2026-01-04", "none"),
    ]
    assert told["days"][0]["builds"][0]["uses"][0]["question"] == question
