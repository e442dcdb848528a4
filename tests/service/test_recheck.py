"""What is run again of an old answer, and what comes of it."""

from __future__ import annotations

import json

import pytest

from bisect_tool.service.recheck import Kind, Verdict, builds_of, checked_from, claims_of, recheck
from tests.rig.answers import answer, only


def test_both_sides_of_every_change_are_run_again() -> None:
    claims = claims_of(answer("✓✓A·A?✓"))
    assert [(one.kind, one.without, one.with_) for one in claims] == [
        (Kind.EXACT, "1.1", "1.2"),
        (Kind.NARROWED, "1.6", "1.4"),
    ]
    assert builds_of(claims) == ("1.1", "1.2", "1.6", "1.4")


def test_the_edge_of_the_range_is_no_change() -> None:
    assert [one.builds for one in claims_of(answer("✓AA"))] == [("1.0", "1.1")]


def test_of_no_change_the_ends_are_run_again() -> None:
    assert [(one.kind, one.builds) for one in claims_of(answer("?✓·✓?"))] == [(Kind.NO_CHANGE, ("1.1", "1.3"))]
    assert [one.kind for one in claims_of(answer("AAA", outcome="no change"))] == [Kind.NO_CHANGE]


def test_what_could_not_be_judged_claims_nothing() -> None:
    assert claims_of(answer("??", outcome="not judged")) == ()


@pytest.mark.parametrize(
    ("fresh", "verdict", "note"),
    [
        ("✓A", Verdict.SAME, ""),
        ("✓✓", Verdict.DIFFERS, "1.2: pass, the answer rests on failing (=zero-grad)"),
        ("AA", Verdict.DIFFERS, "1.1: failing (=zero-grad), the answer rests on pass"),
        ("✓B", Verdict.DIFFERS, "1.2: failing (5e1f0c9ab2d4), the answer rests on failing (=zero-grad)"),
        ("✓~", Verdict.DIFFERS, "1.2: flaky (=zero-grad), the answer rests on failing (=zero-grad)"),
        ("✓?", Verdict.NO_ANSWER, "1.2: health check: libcudart.so.13: cannot open shared object file"),
        ("·A", Verdict.NO_ANSWER, "1.1: it was not judged"),
    ],
)
def test_a_change_is_found_again_or_not(fresh: str, verdict: Verdict, note: str) -> None:
    found = recheck(answer("✓✓AA"), answer(fresh, first=1))
    assert (found.verdict, found.checks[0].note) == (verdict, note)


def test_without_a_report_there_is_no_answer() -> None:
    assert recheck(answer("✓A"), None).verdict is Verdict.NO_ANSWER


def test_one_change_that_differs_decides_about_the_answer() -> None:
    found = recheck(answer("✓AA✓"), only("✓A✓✓", "1.0", "1.1", "1.2", "1.3"))
    assert [one.verdict for one in found.checks] == [Verdict.SAME, Verdict.DIFFERS]
    assert found.verdict is Verdict.DIFFERS


def test_another_file_under_the_same_name_is_no_fault_of_the_answer() -> None:
    found = recheck(answer("✓A"), answer("✓✓"), replaced=("1.1", "1.9"))
    assert (found.verdict, found.replaced) == (Verdict.REPLACED, ("1.1",))
    assert found.checks[0].note.endswith("1.1 has another file now than when it was answered")
    assert recheck(answer("✓A"), answer("✓A"), replaced=("1.1",)).verdict is Verdict.SAME


@pytest.mark.parametrize(
    ("fresh", "verdict"),
    [("✓~", Verdict.SAME), ("✓A", Verdict.SAME), ("✓✓", Verdict.NO_ANSWER), ("~~", Verdict.DIFFERS)],
)
def test_of_a_failure_that_comes_and_goes_only_what_cannot_be_counts(fresh: str, verdict: Verdict) -> None:
    """`~` is flaky with A: a few trials without it may be luck."""
    old = answer("✓~")
    assert [one.kind for one in claims_of(old)] == [Kind.FLAKY]
    assert recheck(old, answer(fresh)).verdict is verdict


def test_a_recheck_lies_in_the_database_as_plain_values() -> None:
    found = recheck(answer("✓✓A?✓"), answer("✓✓A?✓"))
    assert checked_from(json.loads(json.dumps(found.as_values()))) == found.checks
    assert checked_from(None) == ()
