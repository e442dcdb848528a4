from __future__ import annotations

import pytest

from bisect_tool.trials.capture import Capture


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_short_output_is_kept_whole(size: int) -> None:
    capture, content = Capture(head=10, tail=20), bytes(range(65, 90))
    for start in range(0, len(content), size):
        capture.feed(content[start : start + size])
    assert (capture.text(), capture.total) == ("ABCDEFGHIJKLMNOPQRSTUVWXY", 25)


@pytest.mark.parametrize("size", [1, 3, 5, 64, 1000])
def test_long_output_keeps_head_and_tail_however_it_comes(size: int) -> None:
    capture, content = Capture(head=4, tail=6), b"head" + b"." * 490 + b"tail-6"
    for start in range(0, len(content), size):
        capture.feed(content[start : start + size])
    assert capture.text() == "head\n… 490 bytes left out …\ntail-6"
    assert capture.total == 500


@pytest.mark.parametrize(("length", "left_out"), [(10, False), (11, True)])
def test_the_very_limit(length: int, left_out: bool) -> None:  # noqa: FBT001
    capture = Capture(head=4, tail=6)
    capture.feed(b"x" * length)
    assert ("left out" in capture.text()) == left_out


def test_memory_is_bounded() -> None:
    capture = Capture(head=10, tail=100)
    for _ in range(10_000):
        capture.feed(b"x" * 50)
    assert len(capture._tail) <= 200
    assert capture.total == 500_000


def test_nothing() -> None:
    capture = Capture()
    capture.feed(b"")
    assert (capture.text(), capture.total) == ("", 0)


def test_what_is_no_text_shows_as_escapes() -> None:
    capture = Capture()
    capture.feed("ü ".encode() + b"\xc3\x28\xff\x00")
    assert capture.text() == "ü \\xc3(\\xff\x00"


def test_a_character_that_is_cut_between_two_blocks_is_whole() -> None:
    capture = Capture()
    capture.feed("ü".encode()[:1])
    capture.feed("ü".encode()[1:])
    assert capture.text() == "ü"
