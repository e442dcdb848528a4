from __future__ import annotations

import pytest

from bisect_tool.runs.pace import Pace
from bisect_tool.search.prices import USUAL_UNPACK


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_downloads_are_measured_apart_from_the_rest_of_an_install() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.downloading("torch", 500_000_000, done=False)
    clock.now = 2
    pace.downloading("triton", 100_000_000, done=False)
    clock.now = 8
    pace.downloading("triton", 100_000_000, done=True)
    clock.now = 10
    pace.downloading("torch", 500_000_000, done=True)
    pace.installed(25)
    assert pace.speed == pytest.approx(60_000_000)
    assert pace.unpack == pytest.approx(15)


def test_too_little_says_nothing_about_the_speed() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.downloading("toy", 5_000, done=False)
    clock.now = 1
    pace.downloading("toy", 5_000, done=True)
    pace.installed(2)
    assert pace.speed is None


def test_nothing_measured() -> None:
    pace = Pace()
    assert (pace.speed, pace.unpack, pace.seconds_left(3)) == (None, USUAL_UNPACK, None)


def test_a_download_that_was_broken_off_is_forgotten_with_its_install() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.downloading("torch", 500_000_000, done=False)
    clock.now = 10
    pace.installed(12)
    pace.downloading("torch", 500_000_000, done=False)
    clock.now = 20
    pace.downloading("torch", 500_000_000, done=True)
    pace.installed(14)
    assert pace.speed == pytest.approx(50_000_000)
    assert pace.unpack == pytest.approx((12 + 4) / 2)
