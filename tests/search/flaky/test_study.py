"""The study of one flaky failure, from the ends to the verdict."""

from __future__ import annotations

import pytest

from bisect_tool.search.flaky.evidence import Evidence, showing
from bisect_tool.search.flaky.picture import chances
from bisect_tool.search.flaky.study import Study, Terms, examine, study
from bisect_tool.search.flaky.verdict import Found, NoReliableChange, NotConverged
from bisect_tool.search.states import Fail, NoVerdict, Pass
from tests.search.flaky.searching import FlakySearch, Outcomes, stepped

T, F = True, False


def searched(*stretches: tuple[int, float], seed: int = 0, holes: range = range(0)) -> FlakySearch:
    found = FlakySearch(Outcomes(stepped(*stretches), seed), holes=frozenset(holes))
    found.run()
    return found


def verdict_of(found: FlakySearch) -> Found:
    verdict = found.study().verdict
    assert isinstance(verdict, Found)
    return verdict


def whole(trials: dict[int, tuple[bool, ...]], ready: frozenset[int] = frozenset()) -> Study:
    return study(Evidence(60, trials, ready=ready), Terms(), 0, 59)


def test_both_ends_come_first_and_in_turn() -> None:
    assert [work.build for work in whole({}).works] == [59, 0]
    assert [work.build for work in whole({59: (T,)}).works] == [0]
    assert [work.build for work in whole({0: (F,) * 4, 59: (T,) * 4}).works] == [59, 0]


def test_then_the_middle() -> None:
    found = whole({0: (F,) * 5, 59: (T,) * 5}, ready=frozenset({0, 59}))
    assert found.works[0].build == 29
    assert found.works[0].trials <= 2


def test_a_deterministic_repro_pays_little() -> None:
    """Six builds besides the ends; ten trials at the ends, one for each build, and the rest beside the change."""
    found = searched((23, 0), (37, 1))
    assert (verdict_of(found).before, verdict_of(found).after) == (22, 23)
    assert found.installs <= 8
    assert found.ran <= 12 + 16


def test_a_rate_that_falls_is_found_as_well() -> None:
    found = verdict_of(searched((40, 0.9), (20, 0.1), seed=3))
    assert (found.before, found.after) == (39, 40)
    assert found.older.low > found.newer.high


@pytest.mark.parametrize("at", [1, 59])
def test_a_change_beside_an_end(at: int) -> None:
    found = verdict_of(searched((at, 0.0), (60 - at, 0.5), seed=5))
    assert (found.before, found.after) == (at - 1, at)


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2, 0.5, 1.0])
def test_no_reliable_change_costs_two_installs(rate: float) -> None:
    found = searched((60, rate))
    verdict = found.study().verdict
    assert isinstance(verdict, NoReliableChange)
    assert found.installs == 2
    assert verdict.strength < 100


def test_a_hole_over_the_change_is_part_of_the_answer() -> None:
    found = searched((30, 0.0), (30, 0.6), seed=2, holes=range(25, 34))
    verdict = verdict_of(found)
    assert (verdict.before, verdict.after) == (24, 34)
    assert verdict.holes == tuple(range(25, 34))


def test_a_hole_elsewhere_is_not() -> None:
    found = searched((45, 0.0), (15, 0.6), seed=2, holes=range(20, 41))
    verdict = verdict_of(found)
    assert (verdict.before, verdict.after, verdict.holes) == (44, 45, ())


def test_the_budget_ends_it_with_a_range_and_no_name() -> None:
    found = FlakySearch(Outcomes(stepped((30, 0.0), (30, 0.3)), 1), Terms(most_trials=90))
    verdict = found.run()
    assert isinstance(verdict, NotConverged)
    assert found.ran == 90
    assert verdict.before <= 29 < verdict.after


def test_the_budget_may_end_before_the_ends_are_told_apart() -> None:
    found = FlakySearch(Outcomes(stepped((30, 0.0), (30, 0.3)), 1), Terms(most_trials=20))
    verdict = found.run()
    assert isinstance(verdict, NotConverged)
    assert not verdict.is_settled
    assert (verdict.before, verdict.after) == (0, 59)


@pytest.mark.parametrize("seed", range(3))
def test_two_changes_of_rate_in_a_row_are_both_found(seed: int) -> None:
    found = FlakySearch(Outcomes(stepped((20, 0.0), (20, 0.4), (20, 1.0)), seed)).run_all()
    assert [(one.verdict.before, one.verdict.after) for one in found if isinstance(one.verdict, Found)] == [
        (19, 20),
        (39, 40),
    ]


def test_a_failure_that_came_and_went_between_like_ends_is_studied_in_two_parts() -> None:
    trials = {0: (F,) * 40, 30: (T,) * 8, 59: (F,) * 40}
    found = examine(Evidence(60, trials, ready=frozenset(trials)), Terms())
    assert [(one.low, one.high) for one in found] == [(0, 30), (30, 59)]
    assert all(one.works for one in found)


def test_without_a_hint_one_change_is_presumed() -> None:
    found = searched((23, 0.0), (37, 0.7), seed=4)
    assert len(examine(found.evidence(), Terms())) == 1


def test_another_failure_is_no_pass() -> None:
    mine, other, both = (Fail(frozenset(names)) for names in ("A", "B", "AB"))
    assert showing((Pass(), mine, other, both, NoVerdict("125")), "A") == (F, T, T)


def test_the_chances_for_the_picture_sum_to_one() -> None:
    found = searched((23, 0.1), (37, 0.9), seed=4)
    drawn = dict(chances(found.study()))
    assert list(drawn) == list(range(1, 60))
    belief = found.study().belief
    assert belief is not None
    assert sum(drawn.values()) + belief.no_change == pytest.approx(1)
    assert max(drawn, key=drawn.__getitem__) == 23


def test_weights_say_where_to_look_first() -> None:
    weights = tuple(500.0 if build == 50 else 1.0 for build in range(60))
    seen = Evidence(60, {0: (F,) * 5, 59: (T,) * 5}, ready=frozenset({0, 59}), weights=weights)
    assert study(seen, Terms(), 0, 59).works[0].build in {49, 50}


def misled(seed: int, at: int, heavy: int, rates: tuple[float, float]) -> FlakySearch:
    """A change at build `at` of 40, and weights that are sure that it came with build `heavy`."""
    outcomes = Outcomes(stepped((at, rates[0]), (40 - at, rates[1])), seed)
    return FlakySearch(outcomes, weights=tuple(float(build == heavy) for build in range(40)))


@pytest.mark.parametrize("heavy", [9, 11, 30])
def test_weights_that_rule_out_the_true_place_do_not_keep_it_from_being_found(heavy: int) -> None:
    verdict = misled(3, 10, heavy, (0.0, 0.5)).run()
    assert isinstance(verdict, Found)
    assert (verdict.before, verdict.after) == (9, 10)


def test_weights_make_no_name() -> None:
    """What is known speaks four times louder for one place than for its neighbour: too little, whatever the history says."""
    half = (T, F) * 15
    trials = {0: (F,) * 30, 39: half, 8: (F,) * 30, 9: (F,) * 2, 10: half}
    weights = tuple(float(build == 10) for build in range(40))
    plain = study(Evidence(40, trials), Terms(), 0, 39)
    led = study(Evidence(40, trials, weights=weights), Terms(), 0, 39)
    assert plain.belief == led.belief
    assert led.verdict is plain.verdict is None
    assert {work.build for work in led.works[:1]} == {9}


@pytest.mark.parametrize("weights", [(0.0,) * 40, (1.0, *(0.0,) * 39)])
def test_weights_of_nothing_are_no_weights(weights: tuple[float, ...]) -> None:
    """A history in which no commit is suspected."""
    seen = Evidence(40, {0: (F,) * 9, 39: (T,) * 9}, weights=weights)
    assert study(seen, Terms(), 0, 39) == study(Evidence(40, seen.trials), Terms(), 0, 39)


def test_a_right_weight_saves_installs() -> None:
    led = [misled(seed, 10, 10, (0.0, 0.5)) for seed in range(5)]
    plain = [FlakySearch(one.outcomes) for one in (misled(seed, 10, 10, (0.0, 0.5)) for seed in range(5))]
    assert [one.run() for one in led]
    assert [one.run() for one in plain]
    assert sum(one.installs for one in led) < 0.7 * sum(one.installs for one in plain)
