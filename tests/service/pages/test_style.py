"""The colours of the style sheets: every text is readable on what lies behind it, in the light and in the dark."""

from __future__ import annotations

import re

import pytest

from bisect_tool.service.pages.static_files import static_file

# (text, what lies behind it)
PAIRS = [
    *((ink, back) for ink in ("ink", "soft", "link") for back in ("page", "card")),
    ("accent", "page"), ("accent", "card"), ("pass-ink", "pass"), ("flaky-ink", "flaky"), ("untestable-ink", "untestable"),
    ("untried-ink", "untried"), ("untried-ink", "card"), ("ink", "untestable"), ("ink", "untried"), ("wash-ink", "wash"),
    ("bad-ink", "bad"), ("bad-ink", "card"), ("bad-ink", "page"), ("on-button", "button"), ("pass-ink", "card"),
    ("ink", "wash"),
    *(("on-f", f"f{number}") for number in range(6)),
]  # fmt: skip


def colours() -> tuple[dict[str, str], dict[str, str]]:
    found = static_file("style.css")
    assert found is not None
    blocks = re.findall(r"(prefers-color-scheme: dark\) \{\s*)?:root \{(.*?)\}", found.content.decode(), re.DOTALL)
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    for is_dark, block in blocks:
        (dark if is_dark else light).update(re.findall(r"--([\w-]+): #([0-9a-f]{6});", block))
    return light, dark


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, relative luminance and contrast ratio."""
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_contrast_of_black_on_white_is_twenty_one() -> None:
    assert round(contrast("000000", "ffffff"), 2) == 21.0


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_text_is_readable(scheme: int) -> None:
    found = colours()[scheme]
    faint = {pair: ratio for pair in PAIRS if (ratio := round(contrast(found[pair[0]], found[pair[1]]), 2)) < 4.5}
    assert faint == {}


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_edges_of_fields_can_be_seen(scheme: int) -> None:
    found = colours()[scheme]
    assert contrast(found["field-line"], found["card"]) >= 3  # WCAG 2.2, 1.4.11


def test_both_modes_name_the_same_colours() -> None:
    light, dark = colours()
    assert light.keys() == dark.keys()
