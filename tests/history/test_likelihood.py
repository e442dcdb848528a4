"""From points to how likely a commit is the culprit."""

from __future__ import annotations

import pytest

from bisect_tool.history.likelihood import likelihoods


def test_the_first_of_many_outweighs_all_that_share_a_word() -> None:
    """Sixty commits with two points have more points together than one with twenty, but are not likelier together."""
    points = {"culprit": 20.0} | {f"other{number}": 2.0 for number in range(60)}
    found = likelihoods(points, 10_000)
    assert found["culprit"] > sum(weight for sha, weight in found.items() if sha != "culprit")


def test_equal_points_are_equally_likely() -> None:
    found = likelihoods({"a": 3.0, "b": 1.0, "c": 1.0}, 100)
    assert found["b"] == found["c"] < found["a"]


def test_alone_in_its_range_it_has_its_points() -> None:
    assert likelihoods({"a": 3.0}, 1) == {"a": pytest.approx(3.0)}


def test_what_a_rank_adds_is_the_same_in_any_range() -> None:
    """The ranks add 1 to the power of 0.2, then 2 to the power of 0.2 less 1: 1 to 0.1487, in any range."""
    for commits in (2, 100):
        found = likelihoods({"a": 1.5, "b": 1.0}, commits)
        assert found["b"] / found["a"] == pytest.approx(0.148698 / 1.5, rel=1e-5)


def test_no_suspects_no_weights() -> None:
    assert likelihoods({}, 5) == {}
