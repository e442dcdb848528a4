from __future__ import annotations

import pytest

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import plan, probe_on
from bisect_tool.search.prices import Prices
from bisect_tool.search.states import Fail, Pass, Result

A = frozenset({"A"})
Results = dict[tuple[str, int], tuple[Result, ...]]
OPEN: Results = {("main", 0): (Pass(),), ("main", 64): (Fail(A),)}
QUESTION = Question(65, ("main",))


def chosen(prices: Prices, ready: frozenset[int] = frozenset()) -> int:
    return plan(QUESTION, Known(OPEN, ready=ready, prices=prices)).probes[0].build


def test_nothing_measured_a_build_that_is_here_costs_two_fifths_of_another() -> None:
    here, away = (plan(QUESTION, Known(OPEN, ready=ready)).probes[0] for ready in (frozenset({32}), frozenset[int]()))
    assert (here.price, away.price) == (40.0, 100.0)


def test_equal_prices_give_the_middle() -> None:
    assert chosen(Prices(unpack=10, speed=1e6, sizes=(500_000_000,) * 65, trials={"main": 20.0})) == 32


def test_a_downloaded_build_is_preferred_when_fetching_takes_long() -> None:
    prices = Prices(unpack=10, speed=10e6, sizes=(900_000_000,) * 65, fetched=frozenset({20, 60}), trials={"main": 5.0})
    assert chosen(prices) == 20


def test_it_is_not_when_the_trials_take_longer_than_the_download() -> None:
    prices = Prices(unpack=10, speed=10e6, sizes=(900_000_000,) * 65, fetched=frozenset({20}), trials={"main": 2000.0})
    assert chosen(prices) == 32


def test_a_small_build_is_preferred_to_a_large_one() -> None:
    sizes = tuple(12_000_000 if build % 10 == 0 else 900_000_000 for build in range(65))
    assert chosen(Prices(unpack=10, speed=30e6, sizes=sizes, trials={"main": 5.0})) == 30


def test_as_long_as_the_speed_is_not_known_size_does_not_count() -> None:
    sizes = tuple(12_000_000 if build % 10 == 0 else 900_000_000 for build in range(65))
    assert chosen(Prices(sizes=sizes)) == 32


@pytest.mark.parametrize(
    ("build", "seconds"),
    [(0, 10 + 3), (1, 10 + 2), (2, 10), (3, 10)],
)
def test_the_seconds_of_making_an_environment(build: int, seconds: float) -> None:
    """Build 1 is of unknown size, taken for the mean of 1 and 3 seconds; 2 is fetched; 3 has no size at all."""
    prices = Prices(unpack=10, speed=1e6, sizes=(3_000_000, None, 1_000_000), fetched=frozenset({2}))
    assert prices.making(build) == seconds


def test_an_unmeasured_case_takes_the_mean_of_the_others() -> None:
    prices = Prices(trials={"a": 10.0, "b": 20.0})
    assert prices.run([("a", 1), ("b", 2), ("c", 1)]) == 10 + 40 + 15


def test_a_case_that_learns_next_to_nothing_is_not_run() -> None:
    """The middle of a is near the edge of b's gap: 0.13 bits for a whole trial of 100 seconds."""
    known: Results = {
        ("a", 0): (Pass(),),
        ("a", 64): (Fail(A),),
        ("b", 31): (Pass(),),
        ("b", 90): (Fail(A),),
    }
    prices = Prices(unpack=10, trials={"a": 1.0, "b": 100.0})
    question = Question(100, ("a", "b"))
    ends: Results = {(case, build): (Pass(),) if build == 0 else (Fail(A),) for case in "ab" for build in (0, 99)}
    found = plan(question, Known(ends | known, ready=frozenset({32}), prices=prices)).probes
    assert next(probe.cases for probe in found if probe.build == 32) == ("a",)
    unmeasured = plan(question, Known(ends | known, ready=frozenset({32}))).probes
    assert next(probe.cases for probe in unmeasured if probe.build == 32) == ("a", "b")


def test_an_open_build_that_tells_less_a_second_than_another_install_is_left_alone() -> None:
    prices = Prices(unpack=10, trials={"main": 100.0})
    known = Known(OPEN, ready=frozenset({1, 30}), prices=prices)
    assert probe_on(QUESTION, known, 1) is None
    here = probe_on(QUESTION, known, 30)
    assert here is not None
    assert here.price == 100.0


def test_a_walk_back_prefers_a_cheap_build_at_about_the_distance() -> None:
    known = Known({("main", 999): (Fail(A),)}, ready=frozenset({980, 990, 500}))
    found = plan(Question(1000, ("main",), open_start=True), known).probes
    assert found[0].build == 990
    assert {probe.build for probe in found} == {990, 992}


def test_the_next_step_back_goes_on_from_there() -> None:
    known = Known({("main", 999): (Fail(A),), ("main", 990): (Fail(A),)})
    assert plan(Question(1000, ("main",), open_start=True), known).probes[0].build == 943
