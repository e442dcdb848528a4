from __future__ import annotations

from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.planner import plan
from bisect_tool.search.policy import Flakiness, Policy
from bisect_tool.search.states import Fail, Pass
from bisect_tool.search.wishes import Purpose

POLICY = Policy(flaky=Flakiness.AUTO)
ENDS = Known({("main", 0): (Pass(),), ("main", 9): (Fail(frozenset({"slower"})),)})


def test_a_comparison_of_numbers_is_not_run_again_to_notice_flakiness() -> None:
    first = plan(Question(10, ("main",), compared=("main",)), ENDS, POLICY).probes[0]
    assert (first.build, first.purpose) == (4, Purpose.SPLIT)


def test_any_other_case_is() -> None:
    first = plan(Question(10, ("main",)), ENDS, POLICY).probes[0]
    assert first.build in {0, 9}
