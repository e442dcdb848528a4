from __future__ import annotations

import pytest

from bisect_tool.service.accuracy import Precision, accuracy_of
from bisect_tool.service.pages.accuracy_page import accuracy_page, interval_picture, percent


@pytest.mark.parametrize(
    ("share", "told"),
    [(None, "–"), (0.0, "0 %"), (0.974, "97 %"), (0.9969, "99.6 %"), (0.99999, "99.9 %"), (1.0, "100 %")],
)
def test_only_what_is_wholly_so_is_a_hundred_per_cent(share: float | None, told: str) -> None:
    assert percent(share) == told


def test_without_checks_nothing_is_claimed() -> None:
    shown = accuracy_page(accuracy_of([], []))
    assert "nothing can be said" in shown.headline
    assert shown.tables == ()


def test_the_picture_of_an_interval_is_to_scale() -> None:
    picture = interval_picture(Precision(same=3, differs=1, low=0.25, high=1.0))
    assert 'class="range" x1="63.0" x2="234.0"' in picture
    assert '<circle cx="177.0"' in picture
