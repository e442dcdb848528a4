"""What counts of trials say about rates."""

from __future__ import annotations

import pytest

from bisect_tool.search.flaky.evidence import Tally
from bisect_tool.search.flaky.interval import rate_of
from bisect_tool.search.flaky.rates import LEVELS, alike, information, log_likelihood, sides


def test_levels_run_from_never_to_always() -> None:
    assert (LEVELS[0], LEVELS[-1]) == (0.0, 1.0)
    assert LEVELS[10] == pytest.approx(0.5)
    assert list(LEVELS) == sorted(LEVELS)


def test_a_change_explains_opposite_counts_and_one_rate_explains_like_ones() -> None:
    assert sides(Tally(0, 10), Tally(9, 10)).log_chance > alike(Tally(9, 20))[0] + 5
    assert sides(Tally(5, 10), Tally(5, 10)).log_chance < alike(Tally(10, 20))[0]


def test_rates_expected_on_both_sides() -> None:
    found = sides(Tally(0, 30), Tally(15, 30))
    assert found.before < 0.01
    assert found.after == pytest.approx(0.5, abs=0.03)


def test_both_directions_are_alike() -> None:
    one, other = sides(Tally(1, 20), Tally(12, 20)), sides(Tally(12, 20), Tally(1, 20))
    assert one.log_chance == pytest.approx(other.log_chance)
    assert (one.before, one.after) == pytest.approx((other.after, other.before))


def test_what_cannot_be() -> None:
    assert log_likelihood(Tally(1, 2), 0.0) == log_likelihood(Tally(1, 2), 1.0) == -float("inf")
    assert log_likelihood(Tally(0, 5), 0.0) == log_likelihood(Tally(5, 5), 1.0) == 0


def test_thousands_of_like_trials_do_not_break_the_sums() -> None:
    found = sides(Tally(2500, 5000), Tally(2500, 5000))
    assert found.log_chance < alike(Tally(5000, 10000))[0] - 100


@pytest.mark.parametrize(("one", "other", "nats"), [(0, 1, 1.386), (0, 0.2, 0.150), (0.5, 0.5, 0), (0.1, 0.5, 0.204)])
def test_information_of_a_pair(one: float, other: float, nats: float) -> None:
    assert information(one, other) == pytest.approx(nats, abs=0.001)
    assert information(other, one) == pytest.approx(nats, abs=0.001)


@pytest.mark.parametrize(
    ("shown", "trials", "low", "high"),
    [(0, 10, 0, 0.3085), (10, 10, 0.6915, 1), (5, 10, 0.1871, 0.8129), (2, 20, 0.0123, 0.3170), (0, 0, 0, 1)],
)
def test_intervals_as_in_tables(shown: int, trials: int, low: float, high: float) -> None:
    found = rate_of(Tally(shown, trials))
    assert (found.low, found.high) == pytest.approx((low, high), abs=2e-4)
