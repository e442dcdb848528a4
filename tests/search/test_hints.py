from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from bisect_tool.search.answer import Kind
from bisect_tool.search.hints import counting_hints
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import Policy, plan
from bisect_tool.search.policy import Flakiness
from bisect_tool.search.record import decision, opening, replayed, text_of
from bisect_tool.search.states import Fail, Flaky, Hint, Pass, Result, trials_of
from bisect_tool.search.together import Asking, choose
from tests.rig.histories import History, stepwise
from tests.search.searching import Search, all_ends, ends

A, NOTHING = frozenset({"A"}), frozenset[str]()
Hints = Mapping[tuple[str, int], Hint]


@dataclass(slots=True)
class Hinted(Search):
    """A search that thin builds have said something to."""

    hints: Hints = field(default_factory=dict)

    def known(self) -> Known:
        return replace(super(Hinted, self).known(), hints=self.hints)


def hinted(shown: Mapping[int, frozenset[str]], base: int, case: str = "main") -> Hints:
    return {(case, build): Hint(failures, base) for build, failures in shown.items()}


def run(history: History, hints: Hints, newest: Result, policy: Policy | None = None) -> Hinted:
    """A search whose newest build is known whole, as after a thin search."""
    made = Hinted(history, Question(history.n, history.cases), policy or Policy(aside=None), hints=hints)
    made.results = {(case, history.n - 1): (newest,) for case in history.cases}
    made.installed = {history.n - 1}
    made.run()
    return made


def test_both_sides_of_a_hinted_change_are_all_that_is_fetched() -> None:
    hints = hinted({0: NOTHING, 16: NOTHING, 19: NOTHING, 20: A, 32: A}, 63)
    search = run(stepwise([(20, "pass"), (44, A)]), hints, Fail(A))
    assert search.installed == {19, 20, 63}
    assert ends(search.answer()) == [("exact", 19, 20), ("open", 63, None)]


def test_one_trial_is_enough_where_nothing_is_verified_and_no_hint_is() -> None:
    hints = hinted({0: NOTHING, 19: NOTHING, 20: A}, 63)
    search = run(stepwise([(20, "pass"), (44, A)]), hints, Fail(A), Policy(trust=True))
    assert [build for build, _, _ in search.served] == [19, 20]
    assert search.answer().outcome == "exact"


def test_flakiness_is_looked_for_on_whole_builds_only() -> None:
    hints = hinted({0: NOTHING, 19: NOTHING, 20: A}, 63)
    search = run(stepwise([(20, "pass"), (44, A)]), hints, Fail(A), Policy(flaky=Flakiness.AUTO, aside=None))
    assert search.installed == {19, 20, 63}
    assert [trials_of(state) for state in search.answer().timelines["main"].values()] == [5, 3, 5]


def test_what_a_hint_alone_says_is_in_no_answer() -> None:
    hints = hinted({0: A, 19: A, 20: NOTHING, 40: NOTHING}, 63)
    search = run(stepwise([(20, A), (44, "pass")]), hints, Pass())
    assert ends(search.answer()) == [("open", None, 19), ("exact", 19, 20)]
    assert sorted(search.answer().timelines["main"]) == [19, 20, 63]


def test_a_hint_that_a_whole_build_contradicts_is_dropped_with_its_stretch() -> None:
    """The change is in the binaries at build 40; the thin builds show something else at build 20."""
    hints = hinted({0: NOTHING, 19: NOTHING, 20: A, 32: A}, 63)
    search = run(stepwise([(40, "pass"), (24, A)]), hints, Fail(A))
    assert ends(search.answer()) == [("exact", 39, 40), ("open", 63, None)]
    assert {0, 39, 40} <= search.installed


def test_without_a_change_everything_is_looked_at_whole() -> None:
    plain = run(stepwise([(64, "pass")]), {}, Pass())
    search = run(stepwise([(64, "pass")]), hinted({0: NOTHING}, 63), Pass())
    assert search.installed == plain.installed
    assert search.answer().outcome == "no change"


def test_a_case_without_a_change_is_not_searched_whole_beside_one_that_has_one() -> None:
    history = History({"main": stepwise([(20, "pass"), (44, A)]).states["main"], "other": ("pass",) * 64})
    hints = {**hinted({0: NOTHING, 19: NOTHING, 20: A}, 63), **hinted({0: NOTHING, 20: NOTHING}, 63, "other")}
    search = Hinted(history, Question(64, history.cases), Policy(aside=None), hints=hints)
    search.results = {("main", 63): (Fail(A),), ("other", 63): (Pass(),)}
    search.run()
    assert search.installed == {19, 20}


def test_a_whole_build_between_two_hints_that_agree_may_not_say_otherwise() -> None:
    question = Question(81, ("main",))
    hints = {**hinted({0: NOTHING, 30: NOTHING, 31: A}, 63), **hinted({70: NOTHING}, 80)}
    known = Known({("main", 15): (Fail(A),), ("main", 63): (Fail(A),)}, hints=hints)
    assert set(counting_hints(question, known)) == {("main", 70)}


def test_hints_say_nothing_of_a_case_that_is_flaky() -> None:
    known = Known({("main", 63): (Fail(A), Pass())}, hints=hinted({0: NOTHING, 31: A}, 63))
    assert counting_hints(Question(64, ("main",)), known) == {}


def test_hints_of_a_build_that_cannot_be_used_whole_do_not_count() -> None:
    known = Known({("main", 63): (Fail(A),)}, {31: "broken"}, hints=hinted({0: NOTHING, 31: NOTHING}, 63))
    assert set(counting_hints(Question(64, ("main",)), known)) == {("main", 0)}


def test_hints_do_not_lead_through_builds_that_cannot_be_used_one_by_one() -> None:
    """Builds 5 to 54 cannot be installed whole; thin they say that the change is at build 30."""
    history = History(stepwise([(30, "pass"), (34, A)]).states, frozenset(range(5, 55)))
    hints = hinted({**dict.fromkeys(range(30), NOTHING), **dict.fromkeys(range(30, 63), A)}, 63)
    search = run(history, hints, Fail(A))
    plain = run(history, {}, Fail(A))
    assert ends(search.answer()) == ends(plain.answer()) == [("narrowed", 4, 55), ("open", 63, None)]
    assert len(search.installed) <= len(plain.installed) + 3


def test_no_second_look_as_long_as_thin_builds_are_to_look_first() -> None:
    question, known = Question(64, ("main",)), Known({("main", 0): (Pass(),), ("main", 63): (Pass(),)})
    assert plan(question, known).probes
    assert not plan(question, replace(known, waits=True)).probes
    split = replace(known, results={("main", 0): (Pass(),), ("main", 63): (Fail(A),)}, waits=True)
    assert plan(question, split).probes


def true_changes(history: History) -> set[tuple[int, int]]:
    line = history.states["main"]
    return {(build - 1, build) for build in range(1, history.n) if line[build - 1] != line[build]}


@pytest.mark.parametrize("seed", range(40))
def test_whatever_hints_say_no_change_is_named_that_is_none(seed: int) -> None:
    """Hints drawn at random, with up to three true changes: what is exact is true, and an open gap is never left."""
    rng = random.Random(seed)
    lengths = [rng.randint(1, 15) for _ in range(rng.randint(2, 4))]
    history = stepwise([(length, "pass" if number % 2 else A) for number, length in enumerate(lengths)])
    base = history.n - 1
    shown = {build: rng.choice((A, NOTHING)) for build in range(base) if rng.random() < 0.4}
    newest: Result = Pass() if history.states["main"][-1] == "pass" else Fail(A)
    search = run(history, hinted(shown, base), newest)
    found = search.answer()
    named = {(before, after) for kind, before, after in all_ends(found) if kind == Kind.EXACT}
    assert named <= true_changes(history)
    assert not [end for end in all_ends(found) if end[0] == Kind.NARROWED]
    assert not any(isinstance(state, Flaky) for state in found.timelines["main"].values())


@pytest.mark.parametrize(
    ("known", "build"),
    [
        (Known({("main", 63): (Fail(A),)}, hints=hinted({0: NOTHING, 19: NOTHING, 20: A}, 63)), 19),
        (Known({("main", 0): (Pass(),), ("main", 63): (Pass(),)}, waits=True), None),
    ],
)
def test_decisions_with_thin_builds_are_made_again_from_the_record(known: Known, build: int | None) -> None:
    names = tuple(map(str, range(64)))
    asking = Asking(Question(64, ("main",)), known, Policy(), names)
    choice = choose([asking])
    assert (None if choice is None else choice.probe.build) == build
    lines = [text_of(opening([asking], [names], "1")), text_of(decision(1, None, [asking], choice))]
    assert [stored == again for stored, again in replayed(lines)] == [True]
