from __future__ import annotations

import pytest

from bisect_tool.search.holes import chance_testable, is_open, is_worth_entering
from bisect_tool.search.knowledge import Gap
from bisect_tool.search.splits import candidates, even_split, worth


def gap(*untestable: int, before: int = 0, after: int = 64) -> Gap:
    return Gap(before, after, untestable, differs=True)


@pytest.mark.parametrize(("width", "at"), [(2, 1), (3, 1), (4, 2), (5, 2), (6, 2), (7, 4), (365, 128), (500, 256)])
def test_an_even_split_leaves_a_power_of_two_on_one_side(width: int, at: int) -> None:
    assert even_split(width) == at


def test_the_middle_is_worth_a_bit_and_the_edges_little() -> None:
    assert worth(gap(), 32) == 1
    assert worth(gap(), 1) == pytest.approx(0.116, abs=0.001)


def test_an_adjacent_pair_has_nothing_to_split() -> None:
    assert list(candidates(gap(before=3, after=4), shared=False)) == []


def test_beside_a_dead_build_the_next_lies_some_builds_away() -> None:
    assert list(candidates(gap(32), shared=False)) == [22, 42]


def test_the_best_of_each_side_is_the_best_of_all() -> None:
    around = gap(30, 37)
    low, high, *_ = candidates(around, shared=False)
    assert low == max(range(1, 30), key=lambda build: worth(around, build))
    assert high == max(range(38, 64), key=lambda build: worth(around, build))


def test_a_hole_ends_before_the_next_judged_build() -> None:
    assert chance_testable(gap(10, 20), 1) < 1
    assert chance_testable(gap(10, before=8), 9) > chance_testable(gap(10, before=0), 9)


def test_a_build_between_two_dead_ones_is_less_likely_testable_than_one_outside() -> None:
    assert chance_testable(gap(20, 30), 25) < chance_testable(gap(20, 30), 15)


def test_a_small_hole_is_entered_and_a_known_one_is_not() -> None:
    assert is_worth_entering(gap(20, 24))
    known = gap(20, 22, 24, 26, 28, 30, 32)
    assert not is_worth_entering(known)
    assert (is_open(known, 21), is_open(known, 33), is_open(known, 20)) == (False, True, False)
