from __future__ import annotations

from datetime import date

import pytest

from tests.rig.nightly_index import Change, Cut, Missing, NightlyPlan


def day(number: int) -> date:
    return date(2026, 5, number)


def plan(**wishes: object) -> NightlyPlan:
    return NightlyPlan(first=day(1), last=day(31), **wishes)  # type: ignore[arg-type]


def test_every_day_is_a_commit_of_its_own() -> None:
    cuts = {plan().cut(day(number)) for number in range(1, 32)}
    assert len({cut.main for cut in cuts}) == len({cut.nightly for cut in cuts}) == 31
    assert all(len(cut.main) == len(cut.nightly) == 40 for cut in cuts)


def test_a_stall_cuts_new_nightlies_from_one_main_commit() -> None:
    stalled = plan(stalls=((day(4), day(8)),))
    cuts = [stalled.cut(day(number)) for number in range(3, 10)]
    assert len({cut.nightly for cut in cuts}) == 7
    assert len({cut.main for cut in cuts}) == 3
    assert stalled.source_day(day(8)) == day(4)


def test_a_late_build_is_the_nightly_of_the_day_before() -> None:
    late = plan(late=[day(5)])
    assert late.cut(day(5)) == late.cut(day(4))


def test_a_history_says_what_was_cut() -> None:
    cuts = {day(1): Cut("a" * 40, "1" * 40), day(3): Cut("b" * 40, "1" * 40), day(4): Cut("c" * 40, "2" * 40)}
    given = plan(cuts=cuts)
    assert given.cut(day(3)).nightly == "b" * 40
    assert [given.source_day(d) for d in cuts] == [day(1), day(1), day(4)]
    assert not given.is_built(day(2), "cpu", "cp311")


def test_a_change_stays_until_the_next_one() -> None:
    changes = (Change("grad", day(20), "pass"), Change("grad", day(10), "exit 3"), Change("other", day(10), "hang"))
    changed = plan(changes=changes)
    assert [changed.behaviour(day(n), "cpu").get("grad") for n in (9, 10, 19, 20)] == [None, "exit 3", "exit 3", "pass"]


def test_a_change_inside_a_stall_comes_with_its_end() -> None:
    changed = plan(changes=(Change("grad", day(6), "exit 3"),), stalls=((day(4), day(8)),))
    assert [changed.behaviour(day(n), "cpu") for n in (8, 9)] == [{}, {"grad": "exit 3"}]


def test_a_change_of_one_variant() -> None:
    changed = plan(variants=("cpu", "cu130"), changes=(Change("grad", day(2), "exit 3", variants=["cu130"]),))
    assert (changed.behaviour(day(2), "cpu"), changed.behaviour(day(2), "cu130")) == ({}, {"grad": "exit 3"})


def test_what_is_missing() -> None:
    gaps = (Missing(day(2)), Missing(day(4), day(6), variant="cu130"), Missing(day(8), python="cp312"))
    gappy = plan(variants=("cpu", "cu130"), missing=gaps)
    built = [n for n in range(1, 10) if gappy.is_built(day(n), "cu130", "cp312")]
    assert built == [1, 3, 7, 9]
    assert gappy.is_built(day(8), "cu130", "cp311")
    assert gappy.is_built(day(5), "cpu", "cp312")


def test_the_range_must_be_one() -> None:
    with pytest.raises(ValueError, match="first before last"):
        NightlyPlan(first=day(2), last=day(1))
