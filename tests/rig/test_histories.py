from __future__ import annotations

import random

import pytest

from tests.rig import histories
from tests.rig.histories import PASS, Change, History, Oracle, TrueEpisode, changes, episodes, stepwise

A, B, AB = frozenset("A"), frozenset("B"), frozenset("AB")


def test_changes_and_episodes_of_a_history_with_a_hole() -> None:
    history = History({"main": (PASS, A, AB, AB, None, B, PASS, PASS)}, holes=frozenset({3, 6}))
    assert changes(history, "main") == (Change(0, 1), Change(1, 2), Change(2, 5), Change(5, 7))
    assert changes(history, "main")[2].gap == (3, 4)
    assert episodes(history, "main", "A") == (TrueEpisode(1, 2, Change(0, 1), Change(2, 5)),)
    assert episodes(history, "main", "B") == (TrueEpisode(2, 5, Change(1, 2), Change(5, 7)),)


def test_an_episode_at_the_edge_is_open() -> None:
    history = stepwise([(2, A), (1, PASS), (2, A)])
    assert episodes(history, "main", "A") == (
        TrueEpisode(0, 1, None, Change(1, 2)),
        TrueEpisode(3, 4, Change(2, 3), None),
    )


def test_a_single_failing_build_is_one_episode() -> None:
    history = stepwise([(1, PASS), (1, A), (1, PASS)])
    assert episodes(history, "main", "A") == (TrueEpisode(1, 1, Change(0, 1), Change(1, 2)),)


def test_the_same_seed_gives_the_same_history() -> None:
    first = [histories.any_history(random.Random(seed), 40) for seed in range(50)]
    assert first == [histories.any_history(random.Random(seed), 40) for seed in range(50)]
    assert len({str(history) for history in first}) > 40


@pytest.mark.parametrize("seed", range(20))
def test_builders_plant_what_they_say(seed: int) -> None:
    rng = random.Random(seed)
    change = histories.one_change(rng, 30)
    assert [(len(changes(change, "main")), change.states["main"][-1])] == [(1, A)]
    assert len(changes(histories.several_changes(rng, 30, 6), "main")) == 6
    assert len(changes(histories.several_failures(rng, 30, 4), "main")) == 4
    covered = histories.hole_over_change(rng, change, 5)
    assert 1 <= len(covered.holes) <= 5
    assert covered.holes & {changes(change, "main")[0].before, changes(change, "main")[0].after}
    assert not covered.holes & {0, 29}


def test_holes_in_the_middle_masks_and_unjudged_builds() -> None:
    history = histories.steady(10)
    assert histories.hole_in_the_middle(history, 4).holes == frozenset({3, 4, 5, 6})
    assert histories.masked(history, 2, 4).states["main"][1:5] == (PASS, frozenset({"mask"}), frozenset({"mask"}), PASS)
    assert histories.unjudged(history, [0]).testable("main") == tuple(range(1, 10))


def test_joined_histories_have_several_cases() -> None:
    both = histories.joined(histories.steady(3, case="eager"), stepwise([(1, PASS), (2, A)], "inductor"))
    assert both.cases == ("eager", "inductor")
    assert both.state("inductor", 2) == A


def test_the_oracle_counts_installs_and_trials() -> None:
    oracle = Oracle(History({"a": (PASS, A, None), "b": (PASS, PASS, B)}, holes=frozenset({0})))
    assert [oracle.trial("a", 1), oracle.trial("b", 1), oracle.trial("a", 2), oracle.trial("a", 0)] == [
        A,
        PASS,
        None,
        None,
    ]
    assert (oracle.installs, oracle.attempts, oracle.trials) == (2, 1, 3)


def test_a_build_that_had_to_leave_is_installed_again() -> None:
    oracle = Oracle(histories.steady(3), room=1)
    for build in (0, 1, 0, 0):
        oracle.trial("main", build)
    assert oracle.installs == 3


def test_a_flaky_case_fails_at_its_rate() -> None:
    oracle = Oracle(histories.steady(1, ("flaky", "A", 0.25)))
    failed = sum(oracle.trial("main", 0) == A for _ in range(4000))
    assert 900 < failed < 1100
