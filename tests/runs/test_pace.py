from __future__ import annotations

import pytest

from bisect_tool.runs.pace import Pace
from bisect_tool.search.prices import USUAL_UNPACK


def test_downloads_are_measured_apart_from_the_rest_of_an_install() -> None:
    pace = Pace()
    pace.installed(25, fetching=10, fetched=600_000_000)
    assert pace.speed == pytest.approx(60_000_000)
    assert pace.unpack == pytest.approx(15)


def test_too_little_says_nothing_about_the_speed() -> None:
    pace = Pace()
    pace.installed(2, fetching=1, fetched=5_000)
    assert pace.speed is None


def test_nothing_measured() -> None:
    pace = Pace()
    assert (pace.speed, pace.unpack, pace.seconds_left(3)) == (None, USUAL_UNPACK, None)
