"""Properties of the study of flaky failures over random rates, holes and orders."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from bisect_tool.search.flaky.evidence import Evidence
from bisect_tool.search.flaky.study import Terms, examine
from bisect_tool.search.flaky.verdict import Found, NoReliableChange, NotConverged
from tests.search.flaky.searching import FlakySearch, Outcomes, stepped

SEEDS = st.integers(0, 2**32)
RATES = st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.8, 1.0])
MOST = 120


def begun(seed: int, size: int, before: float, after: float) -> FlakySearch:
    rng = random.Random(seed)
    at = rng.randrange(1, size)
    holes = frozenset(build for build in range(1, size - 1) if rng.random() < 0.2)
    outcomes = Outcomes(stepped((at, before), (size - at, after)), seed)
    return FlakySearch(outcomes, Terms(most_trials=MOST), holes)


@given(SEEDS, st.integers(2, 80), RATES, RATES)
@settings(max_examples=60, deadline=None)
def test_it_ends_within_its_budget_with_a_verdict_that_fits_what_was_seen(
    seed: int, size: int, before: float, after: float
) -> None:
    search = begun(seed, size, before, after)
    verdict = search.run()
    assert search.ran <= MOST
    assert not set(search.trials) & search.holes
    match verdict:
        case Found():
            assert {verdict.before, verdict.after} <= set(search.trials)
            assert not set(verdict.holes) & set(search.trials)
            assert verdict.holes == tuple(range(verdict.before + 1, verdict.after))
            assert verdict.confidence >= search.terms.place
            assert verdict.older.tally.trials + verdict.newer.tally.trials == search.ran
        case NotConverged():
            assert 0 <= verdict.before < verdict.after < size
            assert search.ran == MOST or not search.study().works
        case NoReliableChange():
            assert set(search.trials) == {0, size - 1}


@given(SEEDS, st.integers(2, 80), RATES, RATES, st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_only_what_is_known_matters_not_in_which_order_builds_came(
    seed: int, size: int, before: float, after: float, steps: int
) -> None:
    search = begun(seed, size, before, after)
    for _ in range(steps):
        found = search.study()
        if found.verdict is not None:
            break
        search.serve(found.works[0].build)
    known = search.evidence()
    shuffled = list(known.trials.items())
    random.Random(seed).shuffle(shuffled)
    again = Evidence(size, dict(shuffled), frozenset(sorted(known.untestable, reverse=True)), known.ready)
    assert examine(again, search.terms) == examine(known, search.terms)


@given(SEEDS, st.integers(2, 60), RATES, RATES)
@settings(max_examples=40, deadline=None)
def test_every_other_work_of_a_plan_leads_to_an_end_too(seed: int, size: int, before: float, after: float) -> None:
    rng = random.Random(seed)
    search = begun(seed, size, before, after)
    search.choose = lambda found: rng.choice(found.works)
    search.run()
    assert search.ran <= MOST


@given(SEEDS, st.integers(2, 60), RATES, RATES)
@settings(max_examples=40, deadline=None)
def test_works_stay_inside_the_range_and_off_untestable_builds(
    seed: int, size: int, before: float, after: float
) -> None:
    search = begun(seed, size, before, after)
    while (found := search.study()).verdict is None:
        assert found.works
        for work in found.works:
            assert 0 <= work.build < size
            assert work.build not in search.untestable
            assert work.bits >= 0
            assert work.seconds > 0
        search.serve(found.works[0].build)
