from __future__ import annotations

import random

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import plan, probe_on
from bisect_tool.search.policy import Policy
from bisect_tool.search.prices import Prices
from bisect_tool.search.states import Fail, Pass, Result
from bisect_tool.search.together import Asking, choose
from tests.rig.histories import joined, one_change
from tests.search.searching import UNVERIFIED, Search

A = frozenset({"A"})


def asking(known: Known, size: int = 65, first: int = 0, case: str = "main") -> Asking:
    """A question whose builds are the environments `first`, `first` + 1 …."""
    names = tuple(str(build) for build in range(first, first + size))
    return Asking(Question(size, (case,)), known, Policy(), names)


def between(before: int, after: int, size: int = 65, case: str = "main") -> dict[tuple[str, int], tuple[Result, ...]]:
    passing = {(case, build): (Pass(),) for build in {0, before}}
    return passing | {(case, build): (Fail(A),) for build in {after, size - 1}}


def test_one_question_alone_chooses_as_its_plan_does() -> None:
    known = Known(between(0, 64), ready=frozenset({24}))
    choice = choose([asking(known)])
    assert choice is not None
    assert (choice.asking, choice.probe) == (0, plan(Question(65, ("main",)), known).probes[0])


def test_nothing_is_chosen_when_nobody_wants_anything() -> None:
    done = Known({("main", 0): (Pass(),) * 3, ("main", 1): (Fail(A),) * 3})
    assert choose([asking(done, 2), asking(done, 2)]) is None
    assert choose([]) is None


def test_the_build_that_answers_most_questions_is_opened() -> None:
    """Question 0 has 24 to 64 left and would split it at 44; two others would take 32; 40 serves all."""
    left = [asking(Known(between(24, 64))), asking(Known(between(0, 64))), asking(Known(between(0, 64)))]
    choice = choose(left)
    assert choice is not None
    assert 32 <= choice.probe.build <= 44


def test_the_same_environment_has_other_numbers_in_other_questions() -> None:
    """Question 1 begins 30 builds later: its builds 2 and 10 are 32 and 40 of question 0."""
    first = asking(Known(between(24, 40)))
    later = asking(Known(between(0, 10, 11)), 11, first=30)
    choice = choose([first, later])
    assert choice is not None
    assert choice.environment in {"32", "33", "34", "35", "36"}
    assert 30 + 0 < int(choice.environment) < 40


def test_an_environment_is_paid_once_for_all_questions() -> None:
    """An install of 100 seconds for three questions beats a build that is here for one of them."""
    prices = Prices(unpack=100.0, trials={"main": 10.0})
    shared = [asking(Known(between(0, 64), prices=prices)) for _ in range(3)]
    alone = asking(Known(between(50, 53), ready=frozenset({51}), prices=prices))
    choice = choose([alone, *shared])
    assert choice is not None
    assert choice.environment == "51"  # 0.9 bits in 10 s are still the cheapest
    nothing_here = asking(Known(between(50, 53), prices=prices))
    choice = choose([nothing_here, *shared])
    assert choice is not None
    assert (choice.environment, choice.asking) == ("32", 1)


def test_questions_together_cost_no_more_than_cases_together() -> None:
    """Ten questions of one case each install as few builds as one question of ten cases."""
    histories = [one_change(random.Random(seed), 366) for seed in range(10)]
    names = tuple(map(str, range(366)))
    runs = [Search(history, Question(366, ("main",)), UNVERIFIED) for history in histories]
    installed: set[int] = set()
    while choice := choose([Asking(run.question, run.known(), run.policy, names) for run in runs]):
        installed.add(choice.probe.build)
        for run in runs:
            probe = probe_on(run.question, run.known(), choice.probe.build, run.policy)
            if probe is not None:
                run.serve(probe)
            run.installed.add(choice.probe.build)
    cases = [one_change(random.Random(seed), 366, f"F{seed}", f"case{seed}") for seed in range(10)]
    together = Search(joined(*cases), Question(366, tuple(f"case{seed}" for seed in range(10))), UNVERIFIED)
    together.run()
    assert len(installed) <= len(together.installed) + 1
