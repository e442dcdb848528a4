"""Earlier answers, watches and doubts on the page of a question."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient

from bisect_tool.service.answers import Answers
from bisect_tool.service.pages.history_part import history_part, watch_sentence
from bisect_tool.service.question import Purpose
from bisect_tool.service.reviews import Reviews
from bisect_tool.service.services import Services
from bisect_tool.service.watches import Watch
from tests.rig.answers import answer
from tests.rig.service_scene import ClockedDatabase, Scene


@pytest.mark.parametrize(
    ("watch", "told"),
    [
        (Watch("q", is_on=False, open=0), "No failure reaches the newest build of the answer, so nothing is watched."),
        (
            Watch("q", is_on=True, open=1, until=86_400.0),
            "A failure is open: new builds are looked at until 1970-01-02.",
        ),
        (Watch("q", is_on=True, open=1, chosen=True), "A failure is open: new builds are looked at until it is fixed."),
        (
            Watch("q", is_on=False, open=1, chosen=False),
            "A failure is open, but new builds are not looked at: somebody has turned that off.",
        ),
    ],
)
def test_whether_it_is_watched(watch: Watch, told: str) -> None:
    assert watch_sentence(watch) == told


def test_who_may_not_work_has_no_buttons() -> None:
    watch = Watch("q", is_on=True, open=1)
    assert [value for value, _ in history_part((), watch, None, may_work=True).choices] == ["yes", "no"]
    assert history_part((), watch, None, may_work=False).choices == ()


def test_the_page_tells_what_was_answered_when(services: Services, client: TestClient) -> None:
    opened = services.database
    at = Scene(ClockedDatabase(opened.engine, opened.address, opened.patience))
    question = at.answered(answer("✓A"))
    Answers(at.database).take_in()
    page = client.get(f"/q/{question}").text
    assert "the first answer" in page
    key = re.search(r'name="form_key" value="([^"]+)"', page)
    assert key is not None
    sent = client.post(f"/q/{question}/watch", data={"form_key": key[1], "watch": "no"})
    assert sent.status_code == 303
    assert "somebody has turned that off" in client.get(f"/q/{question}").text
    at.hand.move(days=2)
    Reviews(at.database).pick()
    at.finish(answer("✓✓"), Purpose.VERIFY)
    Reviews(at.database).conclude()
    page = client.get(f"/q/{question}").text
    assert "This answer is in doubt" in page
    assert "1.1: pass, the answer rests on failing (=zero-grad)" in page
    (run,) = re.findall(rf"/q/{question}/history/([0-9a-f]+)", page)
    assert client.get(f"/q/{question}/history/{run}").status_code == 200
    assert client.get(f"/q/{question}/history/{'0' * 32}").status_code == 404
