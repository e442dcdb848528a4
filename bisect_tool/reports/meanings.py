"""What the words of a report mean, for `docs/states.md`."""

from __future__ import annotations

from collections.abc import Mapping

from bisect_tool.reports.report import Kind, Outcome, State

STATES: Mapping[State, str] = {
    "pass": "every judged trial passed",
    "failing": "every judged trial failed, in the same way; `failures` say how",
    "flaky": "trials of this build disagree; `rate` is the share of them that failed",
    "untestable": "the build says nothing about the case: it cannot be installed or imported, a control does not pass, or the "
    "script says 125; the reason is given",
    "not tried": "the answer did not need it, or its neighbours could not be tested",
}
KINDS: Mapping[Kind, str] = {
    "exact": "two neighbouring builds, each run again in fresh trials that agree",
    "narrowed": "builds in between could not be tested or were not tried; they are listed with their reasons",
    "open": "the failure reaches the edge of the range, or of what could be tested",
}
OUTCOMES: Mapping[Outcome, str] = {
    "exact": "every change that was found is exact",
    "narrowed": "some change is only narrowed down",
    "no change": "every testable build behaves the same",
    "not judged": "too few builds could be tested to say anything",
    "unfinished": "the run was stopped; the report has what was known by then",
}
