from __future__ import annotations

from bisect_tool.reports.sentences import summarize
from tests.reports.samples import case, report


def test_where_nothing_changes_builds_that_could_not_be_tested_are_named() -> None:
    made = report(case("inductor", "✓··?✓····✓"), outcome="no change")
    assert summarize(made) == (
        "inductor passes on every build that was tested, from 2.8.0 to 2.15.0 (3 of 10). 2.10.0 could not be tested: health "
        "check: libcudart.so.13: cannot open shared object file.",
    )


def test_a_case_without_holes_says_no_more() -> None:
    made = report(case("inductor", "✓···✓····✓"), outcome="no change")
    assert summarize(made) == ("inductor passes on every build that was tested, from 2.8.0 to 2.15.0 (3 of 10).",)
