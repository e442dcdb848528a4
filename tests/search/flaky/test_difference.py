"""The test of two builds against each other."""

from __future__ import annotations

from collections import defaultdict

import pytest

from bisect_tool.search.flaky.difference import Comparison, Finding, compare, finding_of

ALWAYS, NEVER = (True,) * 200, (False,) * 200


def counts(shown: int, trials: int) -> tuple[bool, ...]:
    """`shown` of `trials`, spread evenly."""
    return tuple((number + 1) * shown // trials > number * shown // trials for number in range(trials))


@pytest.mark.parametrize(("pairs", "finding"), [(0, Finding.OPEN), (4, Finding.OPEN), (5, Finding.DIFFERENT)])
def test_five_pairs_tell_never_from_always(pairs: int, finding: Finding) -> None:
    assert compare(NEVER[:pairs], ALWAYS[:pairs], 0.01).finding is finding
    assert compare(ALWAYS[:pairs], NEVER[:pairs], 0.01).finding is finding


@pytest.mark.parametrize("trials", [NEVER, ALWAYS])
def test_a_failure_that_is_alike_on_both_builds_is_told_in_a_few_dozen_pairs(trials: tuple[bool, ...]) -> None:
    found = compare(trials, trials, 0.01)
    assert found.finding is Finding.ALIKE
    assert 20 < found.pairs < 40
    assert found.strength < 1


@pytest.mark.parametrize(
    ("older", "newer"), [((0, 60), (12, 60)), ((6, 60), (30, 60)), ((12, 60), (48, 60)), ((54, 60), (6, 60))]
)
def test_a_clear_difference_is_found_in_either_direction(older: tuple[int, int], newer: tuple[int, int]) -> None:
    assert compare(counts(*older), counts(*newer), 0.01).finding is Finding.DIFFERENT
    assert compare(counts(*newer), counts(*older), 0.01).finding is Finding.DIFFERENT


def test_trials_without_a_partner_do_not_count() -> None:
    assert compare(NEVER[:3], ALWAYS, 0.01) == compare(NEVER[:3], ALWAYS[:3], 0.01)


def test_the_first_finding_stands() -> None:
    early = compare(NEVER[:5], ALWAYS[:5], 0.01)
    assert early.finding is Finding.DIFFERENT
    assert compare((*NEVER[:5], *ALWAYS), (*ALWAYS[:5], *NEVER), 0.01) == early


def test_less_doubt_asks_for_more() -> None:
    assert compare(NEVER, ALWAYS, 0.0001).pairs > compare(NEVER, ALWAYS, 0.01).pairs > compare(NEVER, ALWAYS, 0.2).pairs


def test_no_trials_no_finding() -> None:
    assert compare((), ALWAYS, 0.01) == Comparison(Finding.OPEN, 0, 1.0)


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.9])
def test_false_alarms_are_rare_however_often_one_looks(rate: float) -> None:
    """Exact, over all outcomes of 30 pairs, of which each is looked at: below the doubt for any shared rate."""
    assert chance_of_alarm(rate, 30) <= 0.01


def chance_of_alarm(rate: float, most: int) -> float:
    open_states: dict[tuple[int, int], float] = {(0, 0): 1.0}
    alarm = 0.0
    for pairs in range(1, most + 1):
        after: dict[tuple[int, int], float] = defaultdict(float)
        for (left, right), chance in open_states.items():
            for one in (0, 1):
                for other in (0, 1):
                    likely = (rate if one else 1 - rate) * (rate if other else 1 - rate)
                    after[left + one, right + other] += chance * likely
        open_states = {}
        for (left, right), chance in after.items():
            match finding_of(left, right, pairs, 0.01)[0]:
                case Finding.DIFFERENT:
                    alarm += chance
                case Finding.OPEN:
                    open_states[left, right] = chance
                case Finding.ALIKE:
                    pass
    return alarm
