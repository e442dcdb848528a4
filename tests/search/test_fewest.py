"""The bound on installs for several failures, against a search through all adaptive plans that takes no short cut."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from tests.benchmarks.search.bound import fewest

Where = tuple[int, int]  # the change of a case lies at one of the places from here to there (exclusive)


@cache
def least(cases: tuple[Where, ...]) -> float:
    """The fewest installs on average until every case has one place, whatever may be known of each case by itself.

    Each plan is tried: any build next, after any outcome. Nothing is presumed of cases being alike, nor of gaps being apart.
    """
    if all(end - begin == 1 for begin, end in cases):
        return 0.0
    builds = {build for begin, end in cases for build in range(begin + 1, end)}
    return 1 + min(sum(chance * least(after) for chance, after in outcomes(cases, build)) for build in builds)


def outcomes(cases: tuple[Where, ...], build: int) -> list[tuple[float, tuple[Where, ...]]]:
    """What each case may say on `build`: the change lies before it or not. The cases are independent."""
    found = []
    for said in product(*(sides(case, build) for case in cases)):
        chance = 1.0
        for one, _ in said:
            chance *= one
        found.append((chance, tuple(where for _, where in said)))
    return found


def sides(case: Where, build: int) -> list[tuple[float, Where]]:
    begin, end = case
    if not begin < build < end:
        return [(1.0, case)]
    older = (build - begin) / (end - begin)
    return [(older, (begin, build)), (1 - older, (build, end))]


@pytest.mark.parametrize(("places", "cases"), [(12, 1), (7, 2), (5, 3), (3, 4)])
def test_no_plan_is_better_than_the_bound(places: int, cases: int) -> None:
    assert least(((0, places),) * cases) == pytest.approx(fewest(places, cases)[cases][places], abs=1e-6)


def test_two_failures_in_three_places_by_hand() -> None:
    """The first build leaves one place and two. Both changes are at the one with 1/9; else a second build is needed."""
    assert fewest(3, 2)[2][3] == pytest.approx(1 + 8 / 9)
