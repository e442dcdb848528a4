from __future__ import annotations

import pytest

from bisect_tool.quantities import format_duration, format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1000000", 1_000_000),
        ("12B", 12),
        ("1k", 1000),
        ("1kB", 1000),
        ("1KiB", 1024),
        ("1.5 MB", 1_500_000),
        (" 40GB ", 40_000_000_000),
        ("40GiB", 42_949_672_960),
        ("2T", 2_000_000_000_000),
        ("1TiB", 1_099_511_627_776),
        ("9007199254740993", 9_007_199_254_740_993),
    ],
)
def test_a_size_is_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "GB", "-1", "1 XB", "1,5GB", "1e9", "1.GB", "inf", "40GBB", "1iB", "\u0663GB", "9" * 21]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match=r"^not a size: "):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (7, "7 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (9_960, "10 kB"),
        (528_000_000, "528 MB"),
        (999_600, "1.0 MB"),
        (2_345_678_901, "2.3 GB"),
        (12_345_678_901, "12 GB"),
        (3_000_000_000_000, "3.0 TB"),
        (3_000_000_000_000_000, "3000 TB"),
    ],
)
def test_a_size_is_shown(size: int, text: str) -> None:
    assert format_size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (4.2, "4.2 s"),
        (9.97, "10 s"),
        (12.4, "12 s"),
        (59.7, "1 min"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (3599.7, "1 h"),
        (7500, "2 h 5 min"),
        (90_000, "25 h"),
    ],
)
def test_a_duration_is_shown(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
