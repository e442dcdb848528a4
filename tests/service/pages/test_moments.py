from __future__ import annotations

import pytest

from bisect_tool.service.pages.moments import ago, clock, iso, utc

AT = 1_796_061_600.0


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(-5, "just now"), (3, "just now"), (59, "59 s ago"), (61, "1 min ago"), (7300, "2 h ago"), (90_000, "1 day ago"),
     (3 * 86_400, "3 days ago"), (20 * 86_400, "2026-11-30")],
)  # fmt: skip
def test_ago(seconds: float, told: str) -> None:
    assert ago(AT, AT + seconds) == told


def test_every_time_is_utc() -> None:
    assert (clock(AT), utc(AT), iso(AT)) == ("18:00:00", "2026-11-30 18:00:00 UTC", "2026-11-30T18:00:00+00:00")
