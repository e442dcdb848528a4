from __future__ import annotations

import pytest

from tests.benchmarks.batch.farming import farm
from tests.benchmarks.batch.scale import TB, Inputs, Layout, between, figures


def test_between_measured_points_it_is_straight_over_the_logarithm() -> None:
    points = {1: 10.0, 100: 30.0}
    assert [between(points, at) for at in (0.5, 1, 10, 100, 5000)] == [10, 10, 20, 30, 30]


def test_one_driver_on_one_host_is_reckoned_as_written() -> None:
    inputs = Inputs(specs=1000, trials_of_spec=10, builds_of_spec=5, trial=30, control=12, own_of_trial=0.1)
    found = figures(inputs, Layout("", drivers=1, slots=1, caches=1))
    assert found.hours == pytest.approx(1000 * (10 * 30 + 5 * 12) / 3600)
    assert found.installs == 397
    assert found.fetched == pytest.approx(397 * 555e6 + 2.44e9)
    assert found.driver_hours - found.planning_hours == pytest.approx(1000 * 15 * 0.1 / 3600)


def test_caches_that_nobody_shares_each_install_for_themselves() -> None:
    inputs = Inputs()
    shared, apart = (figures(inputs, Layout("", 8, 8, 8)), figures(inputs, Layout("", 64, 1, 64)))
    assert shared.fetched < 2 * TB < 9 * TB < apart.fetched


def test_the_simulated_inputs_are_those_of_the_search() -> None:
    """`python -m tests.benchmarks.batch.scale --simulate` makes them again."""
    inputs = Inputs()
    found = farm(10, 1, trial=inputs.trial, install=inputs.making)
    assert found.installed == pytest.approx(inputs.installed[10], rel=0.1)
    assert found.opened == pytest.approx(inputs.openings[10], rel=0.1)
    assert found.trials / 10 == pytest.approx(inputs.trials_of_spec, rel=0.1)


def test_slots_of_one_driver_wait_for_each_other_where_all_specs_want_the_same_build() -> None:
    alone = farm(20, 1, trial=25, install=10).seconds
    assert alone / farm(20, 4, trial=25, install=10).seconds == pytest.approx(3.6, rel=0.1)
    assert alone / farm(20, 64, trial=25, install=10).seconds < 15
