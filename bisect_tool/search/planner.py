"""What to run next: from what is known to the builds and cases that are worth a probe, best first.

The planner is a pure function. `wants` says what each case wants; here a build that one case wants is offered to all of
them, the worths add up, and the build with the most information a second comes first: a build that is already here is
taken where it says nearly as much as one that must be installed. `docs/search.md` shows what this costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bisect_tool.search import slots
from bisect_tool.search.appraisal import Probe, appraise, candidates, grouped, is_shared
from bisect_tool.search.knowledge import Known, Question
from bisect_tool.search.policy import Policy
from bisect_tool.search.prior import prior_of
from bisect_tool.search.slots import useless
from bisect_tool.search.wants import Wants, wants_of
from bisect_tool.search.wishes import Purpose

__all__ = ["Plan", "Policy", "Probe", "Purpose", "plan", "probe_on", "useless"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Probes, best first, and about how many builds are left to probe in all.

    No probes: the search is over, or with probes under way nothing else is worth a slot.
    """

    probes: tuple[Probe, ...]
    steps_left: int = 0


def plan(
    question: Question,
    known: Known,
    policy: Policy | None = None,
    *,
    workers: int = 1,
    running: Sequence[Probe] = (),
) -> Plan:
    """What is worth running next, given what is known.

    The order of the arrival of results does not matter, only their content. A probe is repeated only to verify.

    `workers` are the slots in all, and `running` the probes that occupy some of them. With one slot the probes are
    alternatives, best first. With more, they are to be started together, one for each free slot.
    """
    wants = wants_of(question, known, policy or Policy())
    if workers > 1 or running:
        free = workers - len(running)
        return Plan(tuple(slots.fill(question, known, wants, free, running)), wants.steps_left)
    return Plan(tuple(_ranked(question, known, wants)), wants.steps_left)


def _ranked(question: Question, known: Known, wants: Wants) -> list[Probe]:
    """What is worth running next, best first."""
    groups = grouped(wants)
    builds = candidates(known, groups, prior_of(question), shared=is_shared(groups))
    return appraise(question, known, wants, builds | {wish.build for wish in wants.wishes})


def probe_on(
    question: Question, known: Known, build: int, policy: Policy | None = None, wants: Wants | None = None
) -> Probe | None:
    """What is worth running on `build` while its environment is open; None for nothing.

    Once the time of a trial is known, a probe that tells less a second than the best of the plan is not worth it. `wants` is
    what `wants_of` gives, when that was computed before.
    """
    wants = wants_of(question, known, policy or Policy()) if wants is None else wants
    here = appraise(question, known, wants, [build]) if wants.may_want(build) else []
    if not here or not known.prices.trials:
        return here[0] if here else None
    return here[0] if here[0].value >= _ranked(question, known, wants)[0].value else None
