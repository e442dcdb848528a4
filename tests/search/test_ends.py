from __future__ import annotations

from bisect_tool.search.answer import Outcome
from tests.rig.histories import History, steady, stepwise
from tests.search.searching import UNVERIFIED, ends, search

A = frozenset({"A"})


def test_ends_that_cannot_be_tested_move_inwards() -> None:
    history = History({"main": stepwise([(30, "pass"), (34, A)]).states["main"]}, frozenset({0, 1, 2, 61, 62, 63}))
    found = search(history).run()
    assert ends(found) == [("exact", 29, 30), ("open", 60, None)]
    assert [hole.build for hole in found.failures[0].episodes[0].fixed.holes] == [61, 62, 63]


def test_nothing_testable_costs_a_logarithmic_number_of_installs() -> None:
    run = search(History({"main": ("pass",) * 1000}, frozenset(range(1000))))
    assert run.run().outcome is Outcome.NOT_JUDGED
    assert len(run.installed) <= 24


def test_a_walk_ends_at_the_oldest_build() -> None:
    found = search(steady(100, A), open_start=True).run()
    assert ends(found) == [("open", None, 0), ("open", 99, None)]
    assert found.outcome is Outcome.NO_CHANGE


def test_a_walk_ends_at_the_oldest_usable_build() -> None:
    history = History({"main": (A,) * 100}, frozenset(range(37)))
    found = search(history, open_start=True).run()
    assert ends(found) == [("open", None, 37), ("open", 99, None)]


def test_an_unknown_start_walks_back_seven_builds_then_eight_times_as_far() -> None:
    history = stepwise([(600, "pass"), (400, A)])
    run = search(history, open_start=True, policy=UNVERIFIED)
    assert ends(run.run()) == [("exact", 599, 600), ("open", 999, None)]
    assert [build for build, _, _ in run.served][:4] == [999, 992, 943, 551]


def test_a_walk_goes_on_over_builds_that_cannot_be_tested() -> None:
    history = History({"main": stepwise([(300, "pass"), (700, A)]).states["main"]}, frozenset(range(540, 560)))
    run = search(history, open_start=True, policy=UNVERIFIED)
    assert ends(run.run()) == [("exact", 299, 300), ("open", 999, None)]
    assert [build for build, _, _ in run.served][:4] == [999, 992, 943, 0]


def test_a_walk_does_not_go_back_further_than_the_change() -> None:
    run = search(stepwise([(995, "pass"), (5, A)]), open_start=True, policy=UNVERIFIED)
    run.run()
    assert min(run.installed) == 992


def test_the_newest_build_may_be_untestable_when_the_start_is_unknown() -> None:
    history = History({"main": stepwise([(90, "pass"), (10, A)]).states["main"]}, frozenset({98, 99}))
    assert ends(search(history, open_start=True).run()) == [("exact", 89, 90), ("open", 97, None)]


def test_the_floor_is_not_looked_for_where_the_oldest_judged_build_passes() -> None:
    history = History({"main": stepwise([(80, "pass"), (20, A)]).states["main"]}, frozenset(range(37)))
    run = search(history, policy=UNVERIFIED)
    assert ends(run.run()) == [("exact", 79, 80), ("open", 99, None)]
    assert min(run.installed - history.holes) == 64


def test_the_floor_is_found_where_the_failure_reaches_it() -> None:
    history = History({"main": stepwise([(80, A), (20, "pass")]).states["main"]}, frozenset(range(37)))
    assert ends(search(history).run()) == [("open", None, 37), ("exact", 79, 80)]


def test_one_build_is_one_probe() -> None:
    run = search(steady(1, A))
    assert run.run().outcome is Outcome.NOT_JUDGED
    assert run.served == [(0, "main", "end of the range")]
