"""What to run next: from what is known to the builds and cases that are worth a probe, best first.

The planner is a pure function. It knows four kinds of wishes of a case:

- *ends*: the first and the last build of the range must be judged. An end that is untestable moves inwards, by doubling
  and then halving. With an unknown start only the newest build is an end, and the search walks back from it by doubling
  until the state changes.
- *splits*: two judged neighbours differ and builds between them are untried. Every untried build there has a worth: the
  information in the answer (one bit at the midpoint) times the chance that the build can be tested (see `holes`).
- *second looks*: a case whose ends agree is scanned with a few probes, because a failure may have come and gone.
- *repeats*: a transition was found; both its sides are run again until enough fresh trials agree.

The worths of all cases add up for each build, so that the build that answers the most questions is installed next, and
a build that is already here is preferred when its worth for its price is higher. `docs/search.md` shows what this costs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil, log, log2

from bisect_tool.search import holes
from bisect_tool.search.knowledge import Gap, Known, Question, gaps_of, judged_of, timeline
from bisect_tool.search.states import Flaky, Judged, Passing, State, face, trials_of

DOUBT = 0.01  # a flaky failure counts as absent when so many passes would be luck with less than this chance
IN_VAIN = 3  # trials without a verdict that a verification may cost on top of the others
READY_PRICE = 0.4  # what a probe of a build that is already here costs, against 1 for one that must be installed


class Purpose(StrEnum):
    """Why a probe is made."""

    END = "end of the range"
    WALK = "walking back"
    SCAN = "scan"
    SPLIT = "split"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class Policy:
    """`verify`: fresh trials that both sides of a transition need on top of the first. `scan`: builds to spread first.

    With `scan` None a case that would end without any change is scanned by halving its largest gaps, with as many probes
    as a bisection of the range takes. `most_trials` bounds what is spent on one side of a flaky transition.
    """

    verify: int = 2
    scan: int | None = None
    most_trials: int = 40


@dataclass(frozen=True, slots=True)
class Wish:
    """What one case wants of one build."""

    case: str
    build: int
    worth: float
    purpose: Purpose


@dataclass(frozen=True, slots=True)
class Probe:
    """Run `cases` (controls first) once on `build`, for the sake of `purpose`."""

    build: int
    cases: tuple[str, ...]
    purpose: Purpose
    worth: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Probes, best first, and about how many builds are left to probe in all. No probes: the search is over."""

    probes: tuple[Probe, ...]
    steps_left: int = 0


@dataclass(frozen=True, slots=True)
class _CaseView:
    case: str
    states: dict[int, State]
    judged: dict[int, Judged] = field(default_factory=dict)

    @classmethod
    def of(cls, question: Question, known: Known, case: str) -> _CaseView:
        states = timeline(question, known, case)
        return cls(case, states, judged_of(states))


def plan(question: Question, known: Known, policy: Policy | None = None) -> Plan:
    """What is worth running next, given what is known.

    The order of the arrival of results does not matter, only their content. A probe is repeated only to verify.
    """
    policy = policy or Policy()
    views = [_CaseView.of(question, known, case) for case in question.tests]
    wishes = [wish for view in views for wish in _wishes(question, view, policy)]
    if not wishes and policy.scan is None and not question.open_start:
        wishes = [wish for view in views for wish in _second_look(question, view)]
    if not wishes:
        wishes = [wish for view in views for wish in _repeats(known, view, policy)]
    probes = [_probe(question, known, build, of_build) for build, of_build in _by_build(wishes).items()]
    ranked = sorted(probes, key=lambda probe: _rank(probe, known))
    return Plan(tuple(ranked), _steps_left(question, views, wishes))


def required_trials(states: Iterable[State], policy: Policy) -> int:
    """How many agreeing trials a passing side needs: more when the case is known to be flaky."""
    rates = [state.failed / state.trials for state in states if isinstance(state, Flaky)]
    enough = 1 + policy.verify
    if not rates or min(rates) >= 1:
        return enough
    return max(enough, min(policy.most_trials, ceil(log(DOUBT) / log(1 - min(rates)))))


def is_settled(view_states: dict[int, State], build: int, policy: Policy) -> bool:
    """Whether one side of a transition has been run often enough to be reported."""
    state = view_states[build]
    if isinstance(state, Passing):
        return state.trials >= required_trials(view_states.values(), policy)
    return trials_of(state) >= 1 + policy.verify


def is_convincing(view_states: dict[int, State], build: int, policy: Policy) -> bool:
    """Whether the trials of one side rule out luck: false for a rare failure after `most_trials` passes."""
    rates = [state.failed / state.trials for state in view_states.values() if isinstance(state, Flaky)]
    state = view_states[build]
    if not isinstance(state, Passing) or not rates or min(rates) >= 1:
        return is_settled(view_states, build, policy)
    return (1 - min(rates)) ** state.trials <= DOUBT and is_settled(view_states, build, policy)


def _wishes(question: Question, view: _CaseView, policy: Policy) -> list[Wish]:
    return [
        *_ends(question, view),
        *(_walk(question, view) if question.open_start else ()),
        *_scan(question, view, policy),
        *(wish for gap in gaps_of(view.states) if gap.differs for wish in _split(view, gap)),
    ]


def _ends(question: Question, view: _CaseView) -> list[Wish]:
    newest = _edge(view, range(question.size - 1, -1, -1))
    oldest = None if question.open_start else _edge(view, range(question.size))
    edges = [build for build in (newest, oldest) if build is not None]
    if not edges and view.judged:
        edges = [build for build in (_floor(view), _ceiling(view)) if build is not None]
    return [Wish(view.case, build, 2.0, Purpose.END) for build in edges]


def _edge(view: _CaseView, inwards: range) -> int | None:
    """The next build to try for an end of the range: the end itself, then 1, 2, 4 … builds further in.

    None once a judged build bounds the range, or when all of these were tried in vain: the cost stays logarithmic even
    where nothing can be tested.
    """
    step = 0
    while step < len(inwards):
        if any(build in view.judged for build in inwards[: step + 1]):
            return None
        if inwards[step] not in view.states:
            return inwards[step]
        step = max(1, step * 2)
    return None


def _floor(view: _CaseView) -> int | None:
    """Where to look for the oldest usable build, once an older one turned out untestable; None when it is known."""
    oldest = min(view.judged)
    unusable = max((build for build in view.states if build < oldest), default=oldest - 1)
    return None if oldest - unusable <= 1 else (oldest + unusable) // 2


def _ceiling(view: _CaseView) -> int | None:
    """The same for the newest usable build."""
    newest = max(view.judged)
    unusable = min((build for build in view.states if build > newest), default=newest + 1)
    return None if unusable - newest <= 1 else (newest + unusable + 1) // 2


def _walk(question: Question, view: _CaseView) -> list[Wish]:
    """The next step back from the newest build, until the state has changed or the oldest build is reached."""
    if not view.judged or 0 in view.states or len({face(state) for state in view.judged.values()}) > 1:
        return []
    last, reached, back = question.size - 1, min(view.states), 1
    while last - back >= reached:
        back *= 2
    return [Wish(view.case, max(0, last - back), 1.5, Purpose.WALK)]


def _scan(question: Question, view: _CaseView, policy: Policy) -> list[Wish]:
    if not policy.scan or question.size < 2:
        return []
    step = (question.size - 1) / (policy.scan + 1)
    grid = {round(step * number) for number in range(1, policy.scan + 1)}
    return [Wish(view.case, build, 1.2, Purpose.SCAN) for build in sorted(grid) if build not in view.states]


def _second_look(question: Question, view: _CaseView) -> list[Wish]:
    """Probes inside a range whose ends agree, so that a failure that came and went between them is not missed.

    Bounded: as many builds as a bisection would have taken, spread by halving the largest gap.
    """
    if len(view.judged) < 2 or len({face(state) for state in view.judged.values()}) > 1:
        return []
    if len(view.states) >= 2 + ceil(log2(question.size)):
        return []
    gap = max(gaps_of(view.states), key=lambda gap: (gap.untried, -gap.before))
    return _inside(view, gap, Purpose.SCAN, 0.5)


def _split(view: _CaseView, gap: Gap) -> list[Wish]:
    return _inside(view, gap, Purpose.SPLIT, 1.0)


def _inside(view: _CaseView, gap: Gap, purpose: Purpose, weight: float) -> list[Wish]:
    """Every build inside a gap that is worth a probe, with its worth."""
    width = gap.after - gap.before
    return [
        Wish(
            view.case, build, weight * _bits((build - gap.before) / width) * holes.chance_testable(gap, build), purpose
        )
        for build in holes.candidates(gap)
    ]


def _bits(share: float) -> float:
    """The information, in bits, of an answer that is yes with chance `share`."""
    return -share * log2(share) - (1 - share) * log2(1 - share)


def _repeats(known: Known, view: _CaseView, policy: Policy) -> list[Wish]:
    sides = {build for gap in gaps_of(view.states) if gap.differs for build in (gap.before, gap.after)}
    return [
        Wish(view.case, build, 1.0, Purpose.VERIFY)
        for build in sorted(sides)
        if not is_settled(view.states, build, policy)
        and len(known.results[view.case, build]) < policy.most_trials + IN_VAIN
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
    return Probe(build, cases, strongest.purpose, sum(wish.worth for wish in wishes))


def _rank(probe: Probe, known: Known) -> tuple[float, int]:
    price = READY_PRICE if probe.build in known.ready else 1.0
    # Equal worth: the older build, so that the same knowledge always gives the same plan.
    return (-probe.worth / price, probe.build)


def _steps_left(question: Question, views: list[_CaseView], wishes: list[Wish]) -> int:
    """About how many builds are still to be probed; shared gaps count once."""
    gaps = {(gap.before, gap.after) for view in views for gap in gaps_of(view.states) if gap.differs and gap.untried}
    ends = {wish.build for wish in wishes if wish.purpose in (Purpose.END, Purpose.SCAN, Purpose.WALK)}
    halvings = sum(ceil(log2(after - before)) for before, after in gaps)
    unknown = ceil(log2(max(2, question.size))) if not gaps and any(len(view.judged) < 2 for view in views) else 0
    repeats = len({wish.build for wish in wishes if wish.purpose is Purpose.VERIFY})
    return halvings + len(ends) + unknown + repeats
