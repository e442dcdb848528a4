"""What is there for repros that fail now and then."""

from __future__ import annotations

import pytest

from bisect_tool.search.answer import Kind, answer
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.luck import chance_of_luck
from bisect_tool.search.planner import Policy, plan
from bisect_tool.search.states import Fail, Flaky, NoVerdict, Pass, Result, state_of

A, B = frozenset({"A"}), frozenset({"B"})
P, F = Pass(), Fail(A)
Results = dict[tuple[str, int], tuple[Result, ...]]


def test_flakiness_that_shows_at_verification_reopens_the_search() -> None:
    """Build 20 fails every other time: it passes when first seen, and fails when it is verified."""
    known = {("main", n): (Pass(),) for n in (0, 20)} | {("main", n): (Fail(A),) for n in (21, 63)}
    question = Question(64, ("main",))
    assert {probe.build for probe in plan(question, Known(known), Policy(aside=None)).probes} == {20, 21}
    seen = known | {("main", 20): (Pass(), Fail(A))}
    assert plan(question, Known(seen)).probes[0].build == 10


def test_trials_without_a_verdict_do_not_go_on_for_ever() -> None:
    in_vain: tuple[Result, ...] = (NoVerdict("?"),) * 50
    known: dict[tuple[str, int], tuple[Result, ...]] = {
        ("main", 0): (Pass(), *in_vain),
        ("main", 1): (Fail(A), Fail(A), Fail(A)),
    }
    assert plan(Question(2, ("main",)), Known(known)).probes == ()


def kind_of(before: tuple[Result, ...], after: tuple[Result, ...], failure: str = "A") -> Kind:
    found = answer(Question(2, ("main",)), Known({("main", 0): before, ("main", 1): after}))
    return next(one for one in found.failures if one.failure == failure).episodes[0].appeared.kind


def test_a_flaky_state_counts_each_failure() -> None:
    assert state_of((P, Fail(A | B), F)) == Flaky(A | B, 2, 3, (("A", 2), ("B", 1)))


@pytest.mark.parametrize(
    ("shown", "trials", "without", "chance"),
    [(1, 1, 1, 1 / 3), (2, 3, 1, 2 / 5), (2, 3, 2, 2 / 5 * 3 / 6), (0, 0, 1, 1 / 2), (3, 3, 0, 1)],
)
def test_the_rule_of_succession(shown: int, trials: int, without: int, chance: float) -> None:
    assert chance_of_luck(shown, trials, without) == pytest.approx(chance)


def test_three_passes_are_enough_while_nothing_was_flaky() -> None:
    assert kind_of((P, P, P), (F, F, F)) is Kind.EXACT


def test_two_are_not() -> None:
    assert kind_of((P, P), (F, F, F)) is Kind.NARROWED


@pytest.mark.parametrize(("passes", "kind"), [(10, Kind.NARROWED), (11, Kind.EXACT)])
def test_after_six_failures_in_twelve_trials_eleven_passes_are_no_luck(passes: int, kind: Kind) -> None:
    """One of the six is what made the search look: 5 of 11 count. Luck: 7·…·12 / (18·…·23) = 0.9 %."""
    assert kind_of((P,) * passes, (F, P) * 6) is kind


def test_the_flaky_side_is_run_until_its_rate_is_known() -> None:
    assert kind_of((P,) * 40, (F, F, P)) is Kind.NARROWED
    found = plan(Question(2, ("main",)), Known({("main", 0): (P,) * 40, ("main", 1): (F, F, P)}))
    assert [probe.build for probe in found.probes] == [1]


def test_a_failure_too_rare_to_rule_out_ends_narrowed_after_forty_trials() -> None:
    known: Results = {("main", 0): (P,) * 40, ("main", 1): (F, *(P,) * 11)}
    assert plan(Question(2, ("main",)), Known(known)).probes == ()
    assert kind_of((P,) * 40, (F, *(P,) * 11)) is Kind.NARROWED


def test_a_side_with_another_failure_may_be_lucky_too() -> None:
    """Build 1 shows A or B by chance; build 0 showed B three times, which says little about A."""
    assert kind_of((Fail(B),) * 3, (F, Fail(B)) * 6) is Kind.NARROWED
    assert kind_of((Fail(B),) * 12, (F, Fail(B)) * 6) is Kind.EXACT


def test_a_flaky_failure_does_not_cast_doubt_on_another() -> None:
    known: Results = {("main", 0): (P,) * 3, ("main", 1): (F,) * 3, ("main", 9): (Fail(A | B), F, F)}
    found = answer(Question(10, ("main",)), Known(known))
    assert found.failures[0].episodes[0].appeared.kind is Kind.EXACT


def test_a_verification_in_vain_costs_three_trials_at_most() -> None:
    known: Results = {("main", 0): (P, *(NoVerdict("?"),) * 2), ("main", 1): (F, F, F)}
    assert len(plan(Question(2, ("main",)), Known(known)).probes) == 1
    known["main", 0] = (P, *(NoVerdict("?"),) * 3)
    assert plan(Question(2, ("main",)), Known(known)).probes == ()
