from __future__ import annotations

import pytest

from bisect_tool.history.pins import pinned_range

TRITON = "https://github.com/triton-lang/triton/compare"


@pytest.mark.parametrize(
    ("package", "before", "after", "link"),
    [
        ("triton", "3.7.1+git5d6048aa", "3.9.0+gitaad2a60d", f"{TRITON}/5d6048aa...aad2a60d"),
        ("pytorch-triton", "3.1.0+cf34004b8a", "3.2.0+git0d4682f0", f"{TRITON}/cf34004b8a...0d4682f0"),
        ("triton", "3.7.0", "3.7.1", f"{TRITON}/v3.7.0...v3.7.1"),
        ("triton", "3.7.1", "3.9.0+gitaad2a60d", f"{TRITON}/v3.7.1...aad2a60d"),
    ],
)
def test_the_commits_between_two_pins(package: str, before: str, after: str, link: str) -> None:
    assert pinned_range(package, before, after) == link


@pytest.mark.parametrize(
    ("package", "before", "after"),
    [
        ("nvidia-cudnn-cu13", "9.1", "9.2"),  # no public source
        ("triton", None, "3.7.1"),
        ("triton", "3.8.0rc1", "3.8.0"),
        ("triton", "3.7.1+git5d6048aa", "3.7.1+git5d6048aa"),
    ],
)
def test_no_link_that_may_lead_nowhere(package: str, before: str | None, after: str | None) -> None:
    assert pinned_range(package, before, after) is None
