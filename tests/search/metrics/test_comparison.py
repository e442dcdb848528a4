from __future__ import annotations

import random
from math import sqrt

import pytest

from bisect_tool.search.metrics.comparison import Different, Magnitude, NeedMore, Same, Undecided, compare
from bisect_tool.search.metrics.looks import DOUBT
from tests.search.metrics.measuring import Bench, tally

TENTH = Magnitude(1.1)
STEADY = [10.0, 10.1, 9.9, 10.05, 9.95, 10.02]


def times(samples: list[float], factor: float) -> list[float]:
    return [sample * factor for sample in samples]


def test_nothing_is_said_before_the_first_look() -> None:
    assert compare([], [], TENTH) == NeedMore(reference=6, build=6)
    assert compare(STEADY, STEADY[:4], TENTH) == NeedMore(reference=0, build=2)


def test_a_build_like_the_reference_is_the_same() -> None:
    found = compare(STEADY, STEADY[::-1], TENTH)
    assert isinstance(found, Same)
    assert (found.estimate.ratio, found.estimate.samples) == (1.0, 6)
    assert found.estimate.low < 1 < found.estimate.high < 1.1


def test_a_slower_build_is_different() -> None:
    found = compare(STEADY, times(STEADY, 1.31), TENTH)
    assert isinstance(found, Different)
    assert found.estimate.ratio == pytest.approx(1.31)
    assert found.estimate.reference == pytest.approx(10.01)
    assert found.estimate.build == pytest.approx(13.1131)
    assert found.estimate.low < 1.31 < found.estimate.high


def test_a_faster_build_is_the_same_for_this_question() -> None:
    assert isinstance(compare(STEADY, times(STEADY, 0.5), TENTH), Same)


def test_below_one_less_is_different() -> None:
    throughput = Magnitude(0.9)
    assert isinstance(compare(STEADY, times(STEADY, 0.7), throughput), Different)
    assert isinstance(compare(STEADY, times(STEADY, 1.4), throughput), Same)


def test_surely_different_but_by_less_than_was_asked_for_is_the_same() -> None:
    found = compare(STEADY, times(STEADY, 1.04), TENTH)
    assert isinstance(found, Same)
    assert found.estimate.low > 1.0


def test_numbers_without_spread_are_decided_at_the_first_look() -> None:
    for count, word in ((1000, Same), (1099, Same), (1100, Different), (2000, Different)):
        assert isinstance(compare([1000.0] * 6, [float(count)] * 6, TENTH), word), count


def test_too_much_spread_is_no_verdict() -> None:
    wide = [1.0, 3.0, 0.5, 2.0, 5.0, 0.2] * 5
    found = compare(wide, wide[1:] + wide[:1], TENTH)
    assert isinstance(found, Undecided)
    assert found.estimate.samples == 30


def test_warm_up_does_not_count() -> None:
    cold = Magnitude(1.1, warm_up=2)
    assert compare(STEADY, STEADY, cold) == NeedMore(2, 2)
    assert isinstance(compare([90.0, 50.0, *STEADY], [10.0, 10.0, *STEADY], cold), Same)


def test_samples_beyond_the_look_that_decides_change_nothing() -> None:
    decided = compare(STEADY, STEADY, TENTH)
    assert compare([*STEADY, 10.0, 10.0, 10.0], [*STEADY, 99.0, 99.0, 99.0], TENTH) == decided


def test_a_number_that_is_not_positive_has_no_ratio() -> None:
    with pytest.raises(ValueError, match="math domain"):
        compare([0.0] * 6, STEADY, TENTH)


def test_too_few_samples_to_decide_anything_are_refused() -> None:
    with pytest.raises(ValueError, match="5 samples a side can never decide"):
        compare(STEADY, STEADY, Magnitude(1.1, least=5, most=5))


COUNT = 1000
# A word whose chance is `DOUBT` comes so often in COUNT comparisons, and three standard deviations more.
ALLOWED = COUNT * DOUBT + 3 * sqrt(COUNT * DOUBT)

BENCHES = {
    "noise": Bench(0.03),
    "much noise": Bench(0.08),
    "drift": Bench(0.03, drift=0.2),
    "wander": Bench(0.03, wander=0.01),
    "outliers": Bench(0.03, outliers=0.05),
}


@pytest.mark.parametrize("name", BENCHES)
def test_false_alarms_over_all_looks(name: str) -> None:
    # Rare, not impossible: with much noise it happens to 1 of these 1000.
    assert tally(BENCHES[name], 1.0, TENTH, COUNT).different <= COUNT * DOUBT
    # The worst that the promise covers: half way to the magnitude.
    assert tally(BENCHES[name], sqrt(1.1), TENTH, COUNT).different <= ALLOWED


@pytest.mark.parametrize("name", BENCHES)
def test_misses_at_the_magnitude_over_all_looks(name: str) -> None:
    assert tally(BENCHES[name], 1.1, TENTH, COUNT).same <= ALLOWED


def test_no_change_is_said_to_be_none() -> None:
    assert tally(Bench(0.03), 1.0, TENTH, 200).same == 200
    assert tally(Bench(0.05), 1.0, TENTH, 200).same >= 195


def test_power_at_the_magnitude_and_beyond() -> None:
    # At the magnitude itself the ratio of the medians is now above, now below it: four of five reach it at some look.
    assert tally(Bench(0.01), 1.1, TENTH, 200).different >= 150
    assert tally(Bench(0.03), 1.15, TENTH, 200).different >= 195
    found = tally(Bench(0.03), 1.3, TENTH, 200)
    assert found.different == 200
    assert found.pairs == 6


def test_drift_takes_few_more_samples() -> None:
    drifting = tally(Bench(0.02, drift=0.3), 1.0, TENTH, 200)
    assert drifting.same == 200
    assert drifting.pairs < 8


def test_the_interval_holds_the_truth() -> None:
    rng = random.Random(3)
    bench = Bench(0.1)
    inside = 0
    for _ in range(400):
        found = bench.run(rng, 1.04, TENTH)
        assert not isinstance(found, NeedMore)
        inside += found.estimate.low <= 1.04 <= found.estimate.high
    assert inside >= 395
