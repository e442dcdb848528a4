"""The recording of `docs/`: what a terminal shows, and when, as an SVG."""

from __future__ import annotations

import os
import sys
from xml.etree import ElementTree as ET

from tools.pictures.drawing import draw
from tools.pictures.recording import Frame, Piece, record


def test_a_screen_is_what_the_terminal_shows_in_the_end() -> None:
    program = "print('\\x1b[31;1mred\\x1b[0m <b>', flush=True)\nprint('first', end='\\r')\nprint('second')"
    frames = record([sys.executable, "-c", program], os.environ, width=40, height=5)
    assert frames[-1].lines == (
        (Piece("red", "red", is_bold=True), Piece(" <b>")),
        (Piece("second"),),
    )


def test_the_picture_has_every_line_once_and_every_frame() -> None:
    line, other = (Piece("a <b>", "red"),), (Piece("c", is_bold=True),)
    picture = draw(
        [Frame(0, (line,)), Frame(9, (line, other)), Frame(9.1, (other,))], width=10, height=2, fastest=0.5, longest=2
    )
    root = ET.fromstring(picture)
    name = "{http://www.w3.org/2000/svg}"
    assert ["".join(one.itertext()) for one in root.iter(f"{name}text")] == ["a <b>", "c"]
    assert [len(group) for group in root.iter(f"{name}g")] == [1, 2, 1]
    assert "animation:8.5s" in picture  # 2 s instead of 9, 0.5 s instead of 0.1, and the pause at the end


def test_what_lies_below_is_cut_off() -> None:
    lines = tuple((Piece(word),) for word in ("one", "two", "three"))
    picture = draw([Frame(0, lines)], width=10, height=2, fastest=1, longest=1)
    assert "two" in picture
    assert "three" not in picture
