"""Which cases come and go, what is to be run for them, and how flakiness is noticed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from bisect_tool.search.flaky.choice import NEW_PRICE, Prices, Work
from bisect_tool.search.flaky.evidence import evidence_of
from bisect_tool.search.flaky.study import Study, Terms, examine
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Flakiness, Policy
from bisect_tool.search.states import Flaky, Judged, face, trials_of
from bisect_tool.search.wishes import IN_VAIN, Purpose, View, Wish

DIFFERING_ENDS = 5  # trials of each end that tell a failure that is always there from one that never is
AGREEING_ENDS = 9  # trials of each end before both are taken to behave alike, and always so
NAMELESS = ""  # stands for the failure of a case that was never seen to fail


def policy_of(question: Question, case: str, policy: Policy) -> Policy:
    """The policy for one case: a comparison of numbers is not run again to notice that it comes and goes."""
    return replace(policy, flaky=Flakiness.NO) if case in question.compared else policy


def is_studied(judged: Mapping[int, Judged], policy: Policy) -> bool:
    """Whether the changes of a case, with these states, are changes of a rate."""
    if policy.flaky == Flakiness.AUTO:
        return any(isinstance(state, Flaky) for state in judged.values())
    return policy.flaky == Flakiness.YES


def study_wishes(question: Question, known: Known, view: View, policy: Policy) -> list[Wish]:
    """What the studies of a case want: nothing when all of them have their verdict. The ends must have been judged.

    Each study asks for the best work only, since its own prices count trials one by one.
    """
    return [
        _wish(view, work)
        for failure in failures_of(view)
        for one in studies(question, known, view.case, failure, policy)
        for work in one.works[:1]
    ]


def notice_wishes(known: Known, view: View, policy: Policy) -> Iterator[Wish]:
    """Further trials of both ends, so that flakiness shows before the search relies on single trials."""
    if policy.flaky != Flakiness.AUTO or policy.trust or len(view.judged) < 2:
        return
    low, high = min(view.judged), max(view.judged)
    agree = face(view.judged[low]) == face(view.judged[high])
    enough = AGREEING_ENDS if agree else DIFFERING_ENDS
    for build in (low, high):
        judged = trials_of(view.judged[build])
        in_vain = len(known.results[view.case, build]) - judged
        if (missing := enough - judged) > 0 and in_vain < IN_VAIN:
            yield Wish(view.case, build, 2.0, Purpose.END, missing)


def failures_of(view: View) -> tuple[str, ...]:
    """Every failure that a case was seen with, by name; `NAMELESS` alone when it never failed."""
    seen = {failure for state in view.judged.values() for failure in face(state)}
    return tuple(sorted(seen)) or (NAMELESS,)


def studies(question: Question, known: Known, case: str, failure: str, policy: Policy) -> tuple[Study, ...]:
    """The studies of one failure of one case."""
    return examine(evidence_of(question, known, case, failure), terms_of(question, known, case, policy))


def terms_of(question: Question, known: Known, case: str, policy: Policy) -> Terms:
    """What a study of a case is bound by."""
    trial = known.prices.running(case) or known.prices.unpack / NEW_PRICE
    making = {build: known.prices.making(build) for build in range(question.size)} if known.prices.speed else {}
    return Terms(policy.confidence, policy.most_flaky_trials, Prices(trial, known.prices.unpack, making))


def _wish(view: View, work: Work) -> Wish:
    purpose = Purpose.VERIFY if work.build in view.judged else Purpose.SPLIT
    return Wish(view.case, work.build, work.bits, purpose, work.trials)
