"""A program in a terminal of its own, and what its screen showed when."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyte


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one line in one style; colours are names of pyte or six hexadecimal digits, `default` for none."""

    text: str
    colour: str = "default"
    is_bold: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """The screen from `at` on, in seconds since the start; lines without what is blank at their ends."""

    at: float
    lines: tuple[tuple[Piece, ...], ...]


def record(command: Sequence[str], environ: Mapping[str, str], *, width: int, height: int) -> list[Frame]:
    """Run `command` to its end. Gives a frame for each time that the screen has changed, at most five a second."""
    screen = pyte.Screen(width, height)
    stream = pyte.ByteStream(screen)
    frames: list[Frame] = []
    started = time.monotonic()
    for block in _output(command, environ, width, height):
        stream.feed(block)
        at = time.monotonic() - started
        shown = Frame(at, _lines(screen))
        if frames and (shown.lines == frames[-1].lines or at - frames[-1].at < 0.2):
            continue
        frames.append(shown)
    return [*frames, Frame(time.monotonic() - started, _lines(screen))]


def _output(command: Sequence[str], environ: Mapping[str, str], width: int, height: int) -> Iterator[bytes]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(environ), start_new_session=True
    ):
        os.close(theirs)
        while True:
            select.select([ours], [], [])
            try:
                block = os.read(ours, 1 << 16)
            except OSError:  # Linux says so when the last process has closed it
                break
            if not block:
                break
            yield block
    os.close(ours)


def _lines(screen: pyte.Screen) -> tuple[tuple[Piece, ...], ...]:
    lines = [_pieces(screen, row) for row in range(screen.lines)]
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)


def _pieces(screen: pyte.Screen, row: int) -> tuple[Piece, ...]:
    cells = [screen.buffer[row][column] for column in range(screen.columns)]
    while cells and cells[-1].data == " ":
        cells.pop()
    pieces: list[Piece] = []
    for cell in cells:
        if pieces and (pieces[-1].colour, pieces[-1].is_bold) == (cell.fg, cell.bold):
            pieces[-1] = Piece(pieces[-1].text + cell.data, cell.fg, is_bold=cell.bold)
        else:
            pieces.append(Piece(cell.data, cell.fg, is_bold=cell.bold))
    return tuple(pieces)
