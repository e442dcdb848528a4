from __future__ import annotations

import pytest

from bisect_tool.errors import StoreUnreachable
from bisect_tool.service.talking import work
from bisect_tool.stopping import Stop


def test_faults_do_not_end_the_talking(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("bisect_tool.service.talking.AFTER_FAULT", 0.0)
    monkeypatch.setattr("bisect_tool.service.talking.POLL", 0.0)
    stop, happens = Stop(), [StoreUnreachable("gone", advice="wait"), RecursionError("a defect"), True, False]

    def step() -> bool:
        if not happens:
            stop.set()
            return False
        next_one = happens.pop(0)
        if isinstance(next_one, Exception):
            raise next_one
        return bool(next_one)

    work(step, stop)
    assert happens == []
    assert [record.message for record in caplog.records] == ["cannot talk now: gone", "a defect"]


def test_a_server_that_stops_does_not_begin_anything() -> None:
    stop = Stop()
    stop.set()
    work(lambda: pytest.fail("a step after the end"), stop)
