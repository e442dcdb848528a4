from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.environments.growth import Growth
from bisect_tool.environments.pieces import Claim, Pieces
from bisect_tool.environments.serving import host_for
from bisect_tool.environments.throttle import Throttle


def test_a_stream_alone_takes_everything_that_is_missing() -> None:
    pieces = Pieces(100, here=[(0, 20), (60, 70)], piece=10)
    assert pieces.claim(alone=True) == Claim(20, 60)
    assert pieces.claim(alone=True) == Claim(70, 100)
    assert pieces.claim(alone=True) is None


def test_several_streams_take_pieces_from_the_front() -> None:
    pieces = Pieces(25, piece=10)
    assert [pieces.claim(alone=False) for _ in range(4)] == [Claim(0, 10), Claim(10, 20), Claim(20, 25), None]


def test_a_stream_that_was_alone_leaves_something_to_the_next_one() -> None:
    pieces = Pieces(100, piece=10)
    first = pieces.claim(alone=True)
    assert first is not None
    pieces.arrived(first, 5)
    pieces.share()
    assert first == Claim(5, 15)
    assert pieces.claim(alone=False) == Claim(15, 25)


def test_what_a_stream_gave_up_is_taken_by_the_next() -> None:
    pieces = Pieces(30, piece=10)
    first = pieces.claim(alone=False)
    assert first is not None
    pieces.arrived(first, 4)
    pieces.release(first)
    assert pieces.claim(alone=False) == Claim(4, 14)


def test_stretches_grow_together() -> None:
    pieces = Pieces(30)
    for start, stop in ((20, 30), (0, 5), (5, 10), (8, 21)):
        pieces.add(start, stop)
    assert (pieces.here, pieces.is_complete, pieces.frontier(0)) == ([(0, 30)], True, 30)


def test_a_claim_ends_where_something_was_read_out_of_order() -> None:
    pieces = Pieces(100)
    claim = pieces.claim(alone=True)
    pieces.add(90, 100)
    assert claim == Claim(0, 90)


def pour(growth: Growth, speeds: list[float]) -> list[int]:
    """The number of streams after each second in which so many bytes came in."""
    counts = []
    growth.note(0, 0.0)
    for second, speed in enumerate(speeds, 1):
        growth.note(int(speed), float(second))
        counts.append(growth.streams)
    return counts


def test_streams_are_added_for_as_long_as_each_helps() -> None:
    speeds = [10, 10, 10, 10, 20, 20, 20, 20, 21, 21, 21, 21, 21, 21]
    assert pour(Growth(4), [float(speed) for speed in speeds]) == [1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 2, 2, 2]


def test_there_are_never_more_streams_than_the_limit() -> None:
    assert max(pour(Growth(4), [float(2**second) for second in range(40)])) == 4


def test_a_server_that_asks_for_less_gets_no_more_streams() -> None:
    growth = Growth(4, 3)
    growth.shrink()
    assert pour(growth, [float(2**second) for second in range(20)])[-1] == 2


class Clock:
    """Goes forward by what is waited."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


def test_takers_share_one_bound(tmp_path: Path) -> None:
    clock = Clock()
    throttles = [Throttle(1000, tmp_path / "bandwidth", clock) for _ in range(2)]
    for _ in range(10):
        for throttle in throttles:
            throttle.take(100, clock.wait)
    assert clock.now == pytest.approx(100 + 1.9)


def test_an_idle_wire_saves_nothing_up(tmp_path: Path) -> None:
    clock = Clock()
    throttle = Throttle(1000, tmp_path / "bandwidth", clock)
    throttle.take(100, clock.wait)
    clock.now += 50
    for _ in range(3):
        throttle.take(100, clock.wait)
    assert clock.now == pytest.approx(150.2)


@pytest.mark.parametrize("content", [b"", b"x" * 7, b"?" * 44])
def test_what_another_start_of_the_machine_left_does_not_count(tmp_path: Path, content: bytes) -> None:
    clock = Clock()
    (tmp_path / "bandwidth").write_bytes(content)
    Throttle(1000, tmp_path / "bandwidth", clock).take(100, clock.wait)
    assert clock.now == 100


@pytest.mark.parametrize(
    ("digest", "host"), [("000000aa", "127.64.0.1"), ("ffffff", "127.127.255.2"), ("3f10fd", "127.127.16.254")]
)
def test_a_content_has_an_address_of_its_own(digest: str, host: str) -> None:
    assert host_for(digest) == host
