"""Where the rate of a flaky failure changes, as a picture: a bar for each build, as high as its chance. SVG text, pure."""

from __future__ import annotations

from html import escape

from bisect_tool.reports.cleaning import clean
from bisect_tool.reports.rates import LEAST_SHOWN, RateStudy, share

WIDTH, HEIGHT, BASE = 1080, 96, 70
WIDEST = 40.0  # pixels of a bar


def draw(study: RateStudy) -> str:
    """The SVG element; empty when no chances are known."""
    if not study.chances:
        return ""
    step = min(WIDEST, WIDTH / len(study.chances))
    highest = max(one.chance for one in study.chances)
    bars = []
    for number, one in enumerate(study.chances):
        height = max(1.0, BASE * one.chance / highest) if one.chance >= LEAST_SHOWN else 1.0
        told = f"<title>{escape(clean(one.build))}: {share(one.chance)}</title>"
        box = f'x="{number * step:.2f}" y="{BASE - height:.2f}" width="{max(step - 1, 0.6):.2f}" height="{height:.2f}"'
        bars.append(f"<rect {box}>{told}</rect>")
    first, last = (escape(clean(study.chances[at].build)) for at in (0, -1))
    right = len(study.chances) * step
    label = f"Chance that the rate changed with each build from {first} to {last}"
    return "\n".join(
        [
            f'<svg class="chances" role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}">',
            *bars,
            f'<text x="0" y="{HEIGHT - 8}">{first}</text>',
            f'<text x="{right:.0f}" y="{HEIGHT - 8}" text-anchor="end">{last}</text>' if right > 300 else "",
            "</svg>",
        ]
    )
