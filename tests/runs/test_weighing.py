from __future__ import annotations

from bisect_tool.runs.weighing import spread

COMMITS = ["a", "b", "c", "d", "e"]


def test_a_commit_weighs_for_the_first_build_that_holds_it() -> None:
    # Build 1 holds up to b, build 2 the same, build 3 up to d, build 4 all.
    places = {1: 1, 2: 1, 3: 3, 4: 4}
    assert spread(COMMITS, {"a": 1.0, "c": 5.0, "d": 2.0, "e": 4.0}, places, 5) == (0.0, 1.0, 0.0, 7.0, 4.0)


def test_what_comes_after_a_build_without_a_known_commit_goes_to_the_next() -> None:
    assert spread(COMMITS, {"a": 1.0, "c": 5.0}, {4: 4}, 5) == (0.0, 0.0, 0.0, 0.0, 6.0)


def test_no_build_with_a_known_commit() -> None:
    assert spread(COMMITS, {"a": 1.0}, {}, 5) is None
