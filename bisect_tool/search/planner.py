"""What to run next: from what is known to the builds and cases that are worth a probe, best first.

The planner is a pure function. A case may wish for

- *ends*: the first and the last build of the range must be judged. With an unknown start only the newest build is an end,
  and the search walks back from it until the state changes (see `ends`).
- *splits*: two judged neighbours differ and builds between them are untried (see `splits`, and `holes` for gaps with
  untestable builds).
- *second looks*: a case whose ends agree is scanned with a few probes, because a failure may have come and gone.
- *repeats*: a transition was found; both its sides are run again until enough fresh trials agree (see `luck`).

A build that one case wishes for is offered to all of them, and the worths add up, so that the build that answers the most
questions is installed next. A build that is already here is taken when its worth for its price is higher.
`docs/search.md` shows what this costs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, log2

from bisect_tool.search import holes, splits
from bisect_tool.search.ends import end_wishes
from bisect_tool.search.knowledge import Gap, Known, Question
from bisect_tool.search.luck import is_settled
from bisect_tool.search.policy import Policy
from bisect_tool.search.states import trials_of
from bisect_tool.search.wishes import Purpose, View, Wish, view_of

__all__ = ["Plan", "Policy", "Probe", "Purpose", "plan"]

IN_VAIN = 3  # trials without a verdict that the verification of one side may cost
A_FEW = 6  # probes inside a range whose ends agree, where a bisection would take fewer
READY_PRICE = 0.4  # what a probe of a build that is already here costs, against 1 for one that must be installed


@dataclass(frozen=True, slots=True)
class Probe:
    """Run `cases` (controls first) once on `build`, for the sake of `purpose`; `value` is what it is worth for its price."""

    build: int
    cases: tuple[str, ...]
    purpose: Purpose
    worth: float
    price: float = 1.0

    @property
    def value(self) -> float:
        """Worth for its price: what probes are compared by, also those of several questions."""
        return self.worth / self.price


@dataclass(frozen=True, slots=True)
class Plan:
    """Probes, best first, and about how many builds are left to probe in all. No probes: the search is over."""

    probes: tuple[Probe, ...]
    steps_left: int = 0


@dataclass(frozen=True, slots=True)
class _Split:
    """A gap that one case wants to be split."""

    case: str
    gap: Gap
    purpose: Purpose = Purpose.SPLIT
    weight: float = 1.0


def plan(question: Question, known: Known, policy: Policy | None = None) -> Plan:
    """What is worth running next, given what is known.

    The order of the arrival of results does not matter, only their content. A probe is repeated only to verify.
    """
    policy = policy or Policy()
    views = [view_of(question, known, case) for case in question.tests]
    wishes = [wish for view in views for wish in (*end_wishes(question, view), *_scan(question, view, policy))]
    wishes += _splits([_Split(view.case, gap) for view in views for gap in view.gaps if gap.differs], wishes, known)
    if not wishes and policy.scan is None:
        wishes = _splits([look for view in views for look in _second_look(question, view)], (), known)
    if not wishes:
        wishes = [wish for view in views for wish in _repeats(known, view, policy)]
    probes = [_probe(question, known, build, of_build) for build, of_build in _by_build(wishes).items()]
    # Equal value: the older build, so that the same knowledge always gives the same plan.
    ranked = sorted(probes, key=lambda probe: (-probe.value, probe.build))
    return Plan(tuple(ranked), _steps_left(question, views, wishes))


def _scan(question: Question, view: View, policy: Policy) -> list[Wish]:
    if not policy.scan or question.size < 2:
        return []
    step = (question.size - 1) / (policy.scan + 1)
    grid = {round(step * number) for number in range(1, policy.scan + 1)}
    return [Wish(view.case, build, 1.2, Purpose.SCAN) for build in sorted(grid) if build not in view.states]


def _second_look(question: Question, view: View) -> list[_Split]:
    """The largest gap of a case whose ends agree, so that a failure that came and went is not missed.

    Bounded: as many builds as a bisection would have taken, or `A_FEW` where that is fewer, so that a short range of
    releases is looked at whole. They are spread by halving the largest gap.
    """
    allowed = 2 + max(A_FEW, ceil(log2(question.size)))
    if len(view.judged) < 2 or not view.is_steady or len(view.states) >= allowed:
        return []
    gap = max(view.gaps, key=lambda gap: (gap.untried, -gap.before))
    return [_Split(view.case, gap, Purpose.SCAN, 0.5)]


def _splits(wanted: Sequence[_Split], others: Iterable[Wish], known: Known) -> list[Wish]:
    """What each split is worth on every build that is offered: its own best, those of all others, those already here."""
    shared = len({split.case for split in wanted}) > 1
    best = {build for split in wanted for build in splits.candidates(split.gap, shared=shared)}
    offered = sorted(best | {wish.build for wish in others} | known.ready)
    return [
        Wish(split.case, build, split.weight * splits.worth(split.gap, build), split.purpose)
        for split in wanted
        for build in offered[bisect_right(offered, split.gap.before) : bisect_left(offered, split.gap.after)]
        if holes.is_open(split.gap, build)
    ]


def _repeats(known: Known, view: View, policy: Policy) -> list[Wish]:
    sides = {
        side
        for gap in view.gaps
        if gap.differs
        for side, other in ((gap.before, gap.after), (gap.after, gap.before))
        if not is_settled(view.judged, side, other, policy)
    }
    return [
        Wish(view.case, build, 1.0, Purpose.VERIFY)
        for build in sorted(sides)
        if len(known.results[view.case, build]) - trials_of(view.judged[build]) < IN_VAIN
    ]


def _by_build(wishes: Iterable[Wish]) -> dict[int, list[Wish]]:
    grouped: dict[int, list[Wish]] = defaultdict(list)
    for wish in wishes:
        grouped[wish.build].append(wish)
    return grouped


def _probe(question: Question, known: Known, build: int, wishes: list[Wish]) -> Probe:
    wanted = {wish.case for wish in wishes}
    controls = [name for name in question.controls if not known.results.get((name, build))]
    cases = (*controls, *(name for name in question.tests if name in wanted))
    strongest = max(wishes, key=lambda wish: wish.worth)
    price = READY_PRICE if build in known.ready else 1.0
    return Probe(build, cases, strongest.purpose, sum(wish.worth for wish in wishes), price)


def _steps_left(question: Question, views: list[View], wishes: list[Wish]) -> int:
    """About how many builds are still to be probed; shared gaps count once."""
    by_purpose = {purpose: {wish.build for wish in wishes if wish.purpose is purpose} for purpose in Purpose}
    gaps = {(gap.before, gap.after) for view in views for gap in view.gaps if gap.differs}
    splits_left = sum(
        ceil(log2(after - before))
        for before, after in gaps
        if any(before < build < after for build in by_purpose[Purpose.SPLIT])
    )
    ends = by_purpose[Purpose.END] | by_purpose[Purpose.SCAN] | by_purpose[Purpose.WALK]
    unknown = ceil(log2(max(2, question.size))) if not gaps and any(len(view.judged) < 2 for view in views) else 0
    return splits_left + len(ends) + (unknown if wishes else 0) + len(by_purpose[Purpose.VERIFY])
