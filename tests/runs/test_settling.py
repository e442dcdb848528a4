from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bisect_tool.runs.comparing import Comparison, Measured, Note, Settled, Side, note_of
from bisect_tool.runs.settling import Terms, settle
from bisect_tool.spec.model import Metric, NamedFailure, Samples
from bisect_tool.trials.failure import (
    CannotJudge,
    Failed,
    FoundFailure,
    Passed,
    Signature,
    SignatureKind,
    Verdict,
)
from bisect_tool.trials.observation import Check, Observation

NOTE = Note("c0", "about", "against", Side.BUILD, 0, "boot")
LATENCY = Metric(name="latency_ms", ratio=1.1, trials=Samples(most=8))
MEMORY = Metric(name="memory", ratio=2)
TERMS = Terms((LATENCY,), (), "2.8.0", "2.9.0", is_reference=False)
BOOM = FoundFailure("x", Signature(SignatureKind.EXCEPTION, title="RuntimeError: boom"), "boom")
PASSED = Passed()


def measured(verdict: Verdict = PASSED, **numbers: float) -> Measured:
    checks = tuple(Check(name, value=value) for name, value in numbers.items())
    return Measured(Observation(0, checks=checks), verdict, "trials/x", "python repro.py")


def comparison(reference: Sequence[float], build: Sequence[float]) -> Comparison:
    made = Comparison(NOTE)
    for side, values in ((Side.REFERENCE, reference), (Side.BUILD, build)):
        made.trials |= {(pair, side): measured(latency_ms=value) for pair, value in enumerate(values)}
    return made


def verdict_of(made: Comparison, terms: Terms = TERMS) -> Verdict:
    settled = settle(made, terms)
    assert settled is not None
    return settled.verdict


def reason_of(made: Comparison, terms: Terms = TERMS) -> str:
    found = verdict_of(made, terms)
    assert isinstance(found, CannotJudge)
    return found.reason


def test_it_goes_on_until_the_numbers_tell() -> None:
    assert settle(Comparison(NOTE), TERMS) is None
    assert settle(comparison([10] * 5, [10] * 6), TERMS) is None
    assert verdict_of(comparison([10] * 6, [10] * 6)) == Passed()


def test_a_number_that_is_too_large_is_a_failure() -> None:
    found = verdict_of(comparison([10] * 6, [13] * 6))
    assert isinstance(found, Failed)
    (failure,) = found.failures
    assert failure.name == "latency_ms above 1.1x of 2.8.0"
    assert failure.signature.title == "latency_ms is 1.3 times that of 2.8.0 (limit 1.1)"
    assert failure.text.splitlines() == [
        "reference 2.8.0: 10 10 10 10 10 10 (median 10)",
        "build 2.9.0: 13 13 13 13 13 13 (median 13)",
    ]


def test_how_much_too_large_makes_no_other_failure() -> None:
    one, other = (verdict_of(comparison([10] * 6, [value] * 6)) for value in (13, 25))
    assert isinstance(one, Failed)
    assert isinstance(other, Failed)
    assert one.failures[0].id == other.failures[0].id


def test_it_is_told_in_one_line() -> None:
    settled = settle(comparison([10] * 6, [13] * 6), TERMS)
    assert settled is not None
    assert [str(one) for one in settled.compared] == [
        "latency_ms 13 against 10: 1.30x (1.30 to 1.30) after 6 trials of each build, different"
    ]


def test_the_spec_may_name_it() -> None:
    terms = replace(TERMS, named=(NamedFailure(name="slow", match="latency_ms is"),))
    found = verdict_of(comparison([10] * 6, [13] * 6), terms)
    assert isinstance(found, Failed)
    assert (found.failures[0].id, found.failures[0].name) == ("=slow", "slow")


def test_half_a_pair_does_not_count() -> None:
    made = comparison([10] * 6, [13] * 6)
    del made.trials[0, Side.REFERENCE]
    assert made.pairs == 0
    assert settle(made, TERMS) is None


def test_a_build_that_fails_is_not_compared() -> None:
    made = Comparison(NOTE, {(0, Side.BUILD): measured(Failed((BOOM,)))})
    assert settle(made, TERMS) == Settled(Failed((BOOM,)))


def test_a_reference_that_fails_says_nothing_about_the_build() -> None:
    made = comparison([10] * 3, [10] * 3)
    made.trials[2, Side.REFERENCE] = measured(Failed((BOOM,)))
    assert reason_of(made) == "the reference build 2.8.0 did not pass: RuntimeError: boom"


@pytest.mark.parametrize("failing", [None, (2, Side.BUILD), (2, Side.REFERENCE), (6, Side.BUILD)])
def test_the_order_in_which_trials_arrive_does_not_matter(failing: tuple[int, Side] | None) -> None:
    whole = comparison([10] * 7, [13] * 7)
    if failing:
        whole.trials[failing] = measured(Failed((BOOM,)))
        whole.trials = {key: trial for key, trial in whole.trials.items() if key[0] <= failing[0]}
    expected = settle(whole, TERMS)
    assert expected is not None
    rng = random.Random(1)
    for _ in range(30):
        arriving, taken = rng.sample(sorted(whole.trials), len(whole.trials)), Comparison(NOTE)
        for key in arriving:
            taken.trials[key] = whole.trials[key]
            if (found := settle(taken, TERMS)) is not None:
                break
        assert found == expected


def test_numbers_that_have_told_outweigh_a_later_crash() -> None:
    made = comparison([10] * 6, [13] * 6)
    made.trials[6, Side.BUILD] = measured(Failed((BOOM,)))
    found = verdict_of(made)
    assert isinstance(found, Failed)
    assert found.failures[0].signature.kind is SignatureKind.METRIC


def test_the_reference_compared_with_itself() -> None:
    itself = replace(TERMS, build="2.8.0", is_reference=True)
    assert verdict_of(comparison([10] * 6, [10] * 6), itself) == Passed()
    assert reason_of(comparison([10] * 6, [13] * 6), itself) == (
        "the reference differs from itself, this machine is too unsteady: "
        "latency_ms is 1.3 times that of 2.8.0 (limit 1.1)"
    )
    wide = [1.0, 30.0, 5.0, 12.0, 2.0, 9.0]
    assert verdict_of(comparison(wide, wide[::-1]), itself) == Passed()
    failed = Comparison(NOTE, {(0, Side.REFERENCE): measured(Failed((BOOM,)))})
    assert verdict_of(failed, itself) == Failed((BOOM,))


def test_undecided_is_no_verdict() -> None:
    wide = [1.0, 30.0, 5.0, 12.0, 2.0, 9.0, 20.0, 3.0]
    assert reason_of(comparison(wide, wide[::-1])) == (
        "`latency_ms` spreads too much to tell after 8 trials of each build: between 0.1 and 10 times the reference "
        "(limit 1.1); more `trials` may tell"
    )


def test_every_metric_must_be_decided() -> None:
    both = replace(TERMS, metrics=(LATENCY, MEMORY))
    assert reason_of(comparison([10], [10]), both) == "on 2.8.0: no number `memory` was reported"
    made = Comparison(NOTE)
    for pair in range(6):
        made.trials[pair, Side.REFERENCE] = measured(latency_ms=10, memory=100)
        made.trials[pair, Side.BUILD] = measured(latency_ms=13, memory=300)
    found = verdict_of(made, both)
    assert isinstance(found, Failed)
    assert [failure.name for failure in found.failures] == [
        "latency_ms above 1.1x of 2.8.0",
        "memory above 2x of 2.8.0",
    ]


@pytest.mark.parametrize("side", list(Side))
def test_a_note_reads_back(side: Side) -> None:
    note = replace(NOTE, side=side)
    assert note_of({"exit_status": 0} | note.as_values()) == note
    assert note_of({"exit_status": 0}) is None
