from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bisect_tool.builds.branches import branch_cut


@pytest.mark.parametrize(
    ("version", "cut"), [("2.12.0", (2026, 4, 15)), ("2.12.1", (2026, 4, 15)), ("2.13.0", (2026, 6, 11))]
)
def test_the_branch_of_a_release_was_cut_before_the_next_version(version: str, cut: tuple[int, int, int]) -> None:
    assert branch_cut("torch", version) == datetime(*cut, tzinfo=UTC)


def test_what_is_not_known() -> None:
    assert branch_cut("torch", "99.0.0") is None
    assert branch_cut("keras", "3.9.0") is None
