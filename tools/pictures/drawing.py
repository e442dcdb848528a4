"""Frames of a terminal as one SVG that plays by itself: no script, so that it also plays in a README."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise

from tools.pictures.recording import Frame, Piece

CHARACTER, LINE, MARGIN = 8.4, 18, 16  # pixels
PAUSE = 6.0  # seconds that the last screen stays
INK, PAPER = "#d6deeb", "#0f1620"
COLOURS = {
    "default": INK, "black": "#3b4252", "red": "#ff6b6b", "green": "#8bd49c", "brown": "#f0c674", "yellow": "#f0c674",
    "blue": "#82aaff", "magenta": "#c792ea", "cyan": "#7fdbca", "white": "#ffffff", "brightblack": "#7a8599",
}  # fmt: skip


def draw(frames: Sequence[Frame], *, width: int, height: int, fastest: float, longest: float) -> str:
    """An SVG of `width` x `height` characters, cut off below.

    A frame stays as long as it did, but at least `fastest` and at most `longest` seconds.
    """
    times = _times(frames, fastest, longest)
    total = times[-1] + PAUSE
    frames = [replace(frame, lines=frame.lines[:height]) for frame in frames]
    lines = {
        line: f"l{number}" for number, line in enumerate(dict.fromkeys(one for f in frames for one in f.lines if one))
    }
    wide, high = round(width * CHARACTER + 2 * MARGIN), height * LINE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">',
        f"<style>text{{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:{INK}}}"
        f".f{{visibility:hidden;animation:{total:.1f}s step-end infinite}}",
    ]
    parts += [_keyframes(number, times, total) for number in range(len(frames))]
    parts += ["</style>", f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>', "<defs>"]
    parts += [f'<text id="{name}">{"".join(map(_span, line))}</text>' for line, name in lines.items()]
    parts.append("</defs>")
    for number, frame in enumerate(frames):
        rows = (
            f'<use href="#{lines[line]}" x="{MARGIN}" y="{MARGIN + LINE * (row + 0.75):.1f}"/>'
            for row, line in enumerate(frame.lines)
            if line
        )
        parts.append(f'<g class="f" style="animation-name:k{number}">{"".join(rows)}</g>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _times(frames: Sequence[Frame], fastest: float, longest: float) -> list[float]:
    """When each frame begins, counted from the first one."""
    times = [0.0]
    for before, after in pairwise(frames):
        times.append(times[-1] + min(longest, max(fastest, after.at - before.at)))
    return times


def _keyframes(number: int, times: Sequence[float], total: float) -> str:
    begin = times[number] / total * 100
    end = times[number + 1] / total * 100 if number + 1 < len(times) else 100.0
    before = "0%{visibility:hidden}" if number else ""
    after = f"{end:.2f}%{{visibility:hidden}}" if end < 100.0 else "100%{visibility:visible}"
    return f"@keyframes k{number}{{{before}{begin:.2f}%{{visibility:visible}}{after}}}"


def _span(piece: Piece) -> str:
    colour = COLOURS.get(piece.colour) or f"#{piece.colour}"
    style = f' fill="{colour}"' if colour != INK else ""
    weight = ' font-weight="bold"' if piece.is_bold else ""
    return f"<tspan{style}{weight}>{escape(piece.text)}</tspan>"
