"""About how much is left of a study."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bisect_tool.search.flaky.evidence import Evidence
from bisect_tool.search.flaky.remaining import Remaining, remaining
from bisect_tool.search.flaky.study import Terms, study
from tests.search.flaky.searching import FlakySearch, Outcomes, stepped

T, F = True, False


def left(trials: Mapping[int, tuple[bool, ...]], terms: Terms | None = None) -> Remaining | None:
    evidence, terms = Evidence(60, dict(trials), ready=frozenset(trials)), terms or Terms()
    return remaining(evidence, terms, study(evidence, terms, 0, 59))


def test_nobody_knows_before_the_ends_were_told_apart() -> None:
    assert left({0: (F,) * 2, 59: (T,)}) is None


def test_nothing_is_left_of_what_has_its_verdict() -> None:
    found = FlakySearch(Outcomes(stepped((23, 0.0), (37, 1.0)), 0))
    found.run()
    assert remaining(found.evidence(), found.terms, found.study()) is None


def test_never_more_than_the_budget_leaves() -> None:
    ends: dict[int, tuple[bool, ...]] = {0: (F,) * 20, 59: (T, F) * 10}
    whole, short = left(ends), left(ends, Terms(most_trials=43))
    assert whole is not None
    assert short is not None
    assert (whole.trials > 3, short.trials) == (True, 3)


def test_an_install_counts_with_its_seconds() -> None:
    found = left({0: (F,) * 5, 59: (T,) * 5})
    assert found is not None
    assert found.seconds > found.trials  # a trial takes one second, and the next build is not here


@pytest.mark.parametrize("steps", [((30, 0.0), (30, 0.3)), ((40, 0.9), (20, 0.1)), ((350, 0.0), (50, 0.5))])
def test_half_of_the_time_it_is_right_within_a_factor_of_three(steps: tuple[tuple[int, float], ...]) -> None:
    told: list[float] = []
    for seed in range(3):
        found, log = FlakySearch(Outcomes(stepped(*steps), seed)), list[tuple[int, int]]()
        while (one := found.study()).verdict is None:
            estimate = remaining(found.evidence(), found.terms, one)
            log += [(found.ran, estimate.trials)] if estimate else []
            found.serve(one.works[0].build)
        told += [trials / (found.ran - ran) for ran, trials in log]
    assert sum(1 / 3 <= one <= 3 for one in told) > len(told) / 2
