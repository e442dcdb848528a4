"""Searches in several slots, whose probes end in any order."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bisect_tool.search.abreast import Under, decide
from bisect_tool.search.ahead import likely_next
from bisect_tool.search.explaining import sentences
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Policy
from bisect_tool.search.record import decision_abreast, opening, replayed, text_of
from bisect_tool.search.states import Fail, Pass, Result
from bisect_tool.search.together import Asking, choose
from tests.rig.histories import History, changes, one_change, scattered_holes, stepwise
from tests.search.searching import Search, all_ends, ends

A, B = frozenset({"A"}), frozenset({"B"})
Row = tuple[str, ...]


@dataclass
class Abreast:
    """Searches over the same builds in `slots`; `rng` says whose probe ends next. `lines` is the record."""

    runs: list[Search]
    slots: int
    rng: random.Random
    under: list[Under] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    called_off: int = 0
    rounds: int = 0

    @property
    def row(self) -> Row:
        return tuple(f"digest-{build}" for build in range(self.runs[0].question.size))

    def askings(self) -> list[Asking]:
        return [Asking(run.question, run.known(), run.policy, self.row) for run in self.runs]

    def run(self) -> list[Any]:
        before: list[Known] | None = None
        for number in range(1, 3000):
            askings = self.askings()
            if not self.lines:
                names = [[f"2.{build}" for build in range(run.question.size)] for run in self.runs]
                self.lines.append(text_of(opening(askings, names, "1.0")))
            free = self.slots - len(self.under)
            made = decide(askings, self.under, free)
            self.lines.append(text_of(decision_abreast(number, before, askings, (self.under, free), made)))
            before = [asking.known for asking in askings]
            self.called_off += len(made.useless)
            self.under = [one for place, one in enumerate(self.under) if place not in made.useless]
            self.under += [start.under for start in made.starts]
            assert len(self.under) <= self.slots
            assert len({one.environment for one in self.under}) == len(self.under)
            if not self.under:
                if made.useless:
                    continue
                return [run.answer() for run in self.runs]
            self.rounds += 1
            self.end(self.under.pop(self.rng.randrange(len(self.under))))
        raise AssertionError("the search does not end")

    def end(self, under: Under) -> None:
        for number, probe in under.probes:
            self.runs[number].serve(probe)
        for run in self.runs:
            run.installed.add(under.probes[0][1].build)


def searched(history: History, **more: Any) -> Search:
    return Search(history, replace(Question(history.n, history.cases), **more), Policy(verify=2))


@pytest.mark.parametrize("slots", [2, 4, 7])
@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_arrival_gives_the_answer_of_one_slot(slots: int, seed: int) -> None:
    history = one_change(random.Random(seed), 120)
    alone = searched(history).run()
    answers = [Abreast([searched(history)], slots, random.Random(order)).run()[0] for order in range(3)]
    assert {tuple(all_ends(found)) for found in answers} == {tuple(all_ends(alone))}


@pytest.mark.parametrize("seed", range(8))
def test_among_builds_that_cannot_be_installed_every_answer_is_around_the_change(seed: int) -> None:
    rng = random.Random(seed)
    history = scattered_holes(rng, one_change(rng, 40), 0.3)
    (true,) = changes(history, "main")
    for slots in (2, 5, 8):
        (found,) = Abreast([searched(history)], slots, random.Random(seed)).run()
        _, before, after = ends(found)[0]
        assert before is not None
        assert after is not None
        assert before <= true.before < true.after <= after


@pytest.mark.parametrize("seed", range(6))
def test_the_record_of_several_slots_replays_to_the_byte(seed: int) -> None:
    runs = [searched(one_change(random.Random(seed), 50)), searched(stepwise([(20, "pass"), (20, A), (10, B)]))]
    search = Abreast(runs, 3, random.Random(seed))
    search.run()
    assert all(stored == again for stored, again in replayed(search.lines))


def test_a_record_whose_running_probes_were_changed_does_not_replay() -> None:
    search = Abreast([searched(stepwise([(40, "pass"), (20, A)]))], 3, random.Random(1))
    search.run()
    wrong = [line.replace('"under":[[', '"under":[[1,[[0,1,["main"]]]],[', 1) for line in search.lines]
    assert any(stored != again for stored, again in replayed(wrong))


def test_several_questions_are_planned_together_and_share_environments() -> None:
    runs = [searched(stepwise([(30, "pass"), (30, A)])), searched(stepwise([(30, "pass"), (30, B)]))]
    search = Abreast(runs, 4, random.Random(3))
    answers = search.run()
    assert [ends(found)[0] for found in answers] == [("exact", 29, 30), ("exact", 29, 30)]
    assert len(runs[0].installed) < 14


def test_more_slots_take_fewer_rounds_and_not_many_more_trials() -> None:
    history = one_change(random.Random(7), 366)
    alone = searched(history)
    alone.run()
    four = Abreast([searched(history)], 4, random.Random(0))
    four.run()
    assert len(four.runs[0].served) <= 2.5 * len(alone.served)


def test_what_a_result_made_useless_is_called_off_and_told() -> None:
    known = Known({("main", 0): (Pass(),), ("main", 60): (Fail(A),), ("main", 20): (Fail(A),)})
    asking = Asking(Question(61, ("main",)), known, Policy(), tuple(map(str, range(61))))
    first = Asking(
        asking.question, Known({("main", 0): (Pass(),), ("main", 60): (Fail(A),)}), Policy(), asking.environments
    )
    under = [start.under for start in decide([first], [], 3).starts]
    made = decide([asking], under, 0)
    assert [under[place].probes[0][1].build for place in made.useless] == [30, 45]
    names = [[f"2.{build}" for build in range(61)]]
    line = decision_abreast(1, None, [asking], (under, 0), made)
    told = list(sentences(opening([asking], names, "1.0"), line, {}))
    assert "decision 1: 2.30 for main is called off: it cannot tell anything new" in told


def test_controls_run_first_and_with_the_tests_of_their_build() -> None:
    question = Question(20, ("a", "b"), ("control",))
    found = decide([Asking(question, Known(), Policy(), tuple(map(str, range(20))))], [], 4).starts
    assert all(start.choice.probe.cases == ("control", "a", "b") for start in found)


RESULTS: dict[tuple[str, int], tuple[Result, ...]] = {("main", 0): (Pass(),), ("main", 64): (Fail(A),)}


def asked(results: dict[tuple[str, int], tuple[Result, ...]], **more: Any) -> Asking:
    return Asking(Question(65, ("main",)), Known(results, **more), Policy(), tuple(map(str, range(65))))


def under_of(asking: Asking) -> Under:
    choice = choose([asking])
    assert choice is not None
    return Under(choice.environment, ((0, choice.probe),))


def test_both_halves_are_next_and_the_quarters_come_after_them() -> None:
    asking = asked(RESULTS)
    found = likely_next([asking], [under_of(asking)], 6)
    assert {one.build for one in found[:2]} == {16, 48}
    assert {one.build for one in found[2:]} == {8, 24, 40, 56}
    assert [one.chance for one in found[:2]] == [0.5, 0.5]


def test_the_other_end_is_next_however_the_first_one_turns_out() -> None:
    asking = asked({})
    under = under_of(asking)
    found = likely_next([asking], [under], 1)
    assert {under.probes[0][1].build, found[0].build} == {0, 64}
    assert found[0].chance == 1.0


def test_what_is_ready_is_not_made_again() -> None:
    asking = asked(RESULTS, ready=frozenset({16}))
    assert 16 not in {one.build for one in likely_next([asking], [Under("32", under_of(asked(RESULTS)).probes)], 4)}


def test_one_of_both_is_what_the_planner_then_chooses() -> None:
    """The guess is right: whichever way the probe ends, the next choice was among the candidates."""
    for seed in range(12):
        history = one_change(random.Random(seed), 200)
        run = searched(history)
        row = tuple(map(str, range(200)))
        guesses = hits = 0
        guessed: set[str] = set()
        while (choice := choose([asking := Asking(run.question, run.known(), run.policy, row)])) is not None:
            if choice.probe.build not in run.installed:
                guesses += 1
                hits += choice.environment in guessed
            guessed = {
                c.environment for c in likely_next([asking], [Under(choice.environment, ((0, choice.probe),))], 2)
            }
            run.serve(choice.probe)
        assert hits >= guesses - 3, (seed, hits, guesses)


def test_the_record_of_several_slots_is_read_as_json() -> None:
    search = Abreast([searched(stepwise([(10, "pass"), (10, A)]))], 2, random.Random(1))
    search.run()
    last = json.loads(search.lines[-1])
    assert (last["under"], last["choices"], last["free"]) == ([], [], 2)
