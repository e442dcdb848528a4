"""What a question wants, stage by stage: certain builds, and gaps that are to be split.

1. The ends, the landmarks, the walk back and the spread probes of `--scan`; every gap between builds that differ.
2. Second looks: a case whose ends agree is scanned with a few probes, because a failure may have come and gone.
3. Repeats: both sides of every transition are run again until enough fresh trials agree (see `luck`). With them goes a
   look aside, into stretches that are so wide that another failure may hide there.

Hints of thin builds stand in for results, but for the sides of a change, which are always wanted themselves (see `hints`).

A case whose failures come and go is studied instead (see `flaky`): its trials are wanted in the first stage.

A stage begins when nothing is left of those before. What each case wants depends on what is known of this case alone, and
not on prices: so it changes only with the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log2

from bisect_tool.search import holes
from bisect_tool.search.ends import end_wishes
from bisect_tool.search.flaky.noticing import is_studied, notice_wishes, policy_of, study_wishes
from bisect_tool.search.hints import proofs, proven, with_hints
from bisect_tool.search.knowledge import Gap, Known, Question
from bisect_tool.search.luck import is_settled, missing_trials
from bisect_tool.search.policy import Policy
from bisect_tool.search.splits import sides_of
from bisect_tool.search.states import trials_of
from bisect_tool.search.wishes import IN_VAIN, Purpose, Split, View, Wish, views_of

A_FEW = 6  # probes inside a range whose ends agree, where a bisection would take fewer


@dataclass(frozen=True, slots=True)
class Wants:
    """What is worth doing, and about how many builds are left to probe. With neither wish nor split the search is over."""

    wishes: tuple[Wish, ...] = ()
    splits: tuple[Split, ...] = ()
    steps_left: int = 0

    def __bool__(self) -> bool:
        """Whether anything is wanted."""
        return bool(self.wishes or self.splits)

    def may_want(self, build: int) -> bool:
        """Whether something of a build may be wanted: it is wished for, or lies inside a gap that is to be split."""
        return any(wish.build == build for wish in self.wishes) or any(
            split.gap.before < build < split.gap.after for split in self.splits
        )


def wants_of(question: Question, known: Known, policy: Policy) -> Wants:
    """What the question wants now."""
    known, unproven = with_hints(question, known)
    views = views_of(question, known)
    cheap = known.prices.classes(known.ready) if question.open_start else ()
    wishes: list[Wish] = []
    steady: list[View] = []
    for view in views:
        wishes += (own := [*end_wishes(question, view, cheap), *_scan(question, view, policy), *proofs(view, unproven)])
        policy_here = policy_of(question, view.case, policy)
        if not own and is_studied(view.judged, policy_here):
            wishes += study_wishes(question, known, view, policy_here)
        else:
            steady.append(view)
            wishes += () if own else notice_wishes(known, proven(view, unproven), policy_here)
    splits = [
        Split(view.case, gap)
        for view in steady
        for gap in view.open_gaps
        if is_splittable(gap) and not unproven & {(view.case, gap.before), (view.case, gap.after)}
    ]
    if not wishes and not splits and policy.scan is None and not known.waits:
        hinted = {case for case, _ in unproven}  # these were looked at thin all over the range
        splits = [look for view in steady if view.case not in hinted for look in _second_look(question, view)]
    if not wishes and not splits:
        wishes = [wish for view in steady for wish in _repeats(known, view, policy)]
        splits = [look for view in steady for look in _look_aside(question, view, policy)]
    return Wants(tuple(wishes), tuple(splits), _steps_left(question, steady, wishes, splits))


def is_splittable(gap: Gap) -> bool:
    """Whether a build inside the gap is untried and worth a probe."""
    if not gap.untestable:
        return gap.after - gap.before > 1
    return any(sides_of(gap)) or (holes.is_worth_entering(gap) and bool(holes.inner_runs(gap)))


def may_look_again(question: Question, view: View) -> bool:
    """Whether a case whose builds agree so far may be scanned further.

    Bounded: as many builds as a bisection would have taken, or `A_FEW` where that is fewer, so that a short range of
    releases is looked at whole.
    """
    return len(view.judged) >= 2 and view.is_steady and _looks_left(question, view) > 0


def _looks_left(question: Question, view: View) -> int:
    return 2 + max(A_FEW, ceil(log2(question.size))) - view.tried


def _scan(question: Question, view: View, policy: Policy) -> Iterator[Wish]:
    if not policy.scan or question.size < 2:
        return
    step = (question.size - 1) / (policy.scan + 1)
    grid = {round(step * number) for number in range(1, policy.scan + 1)}
    yield from (Wish(view.case, build, 1.2, Purpose.SCAN) for build in sorted(grid) if not view.is_tried(build))


def _second_look(question: Question, view: View) -> Iterator[Split]:
    """The largest gap of a case whose ends agree: spread by halving it, so that a failure that came and went shows."""
    if may_look_again(question, view):
        gap = max(view.gaps, key=lambda gap: (gap.untried, -gap.before))
        if is_splittable(gap):
            yield Split(view.case, gap, Purpose.SCAN, 0.5)


def _look_aside(question: Question, view: View, policy: Policy) -> Iterator[Split]:
    if not policy.looks_aside or policy.aside is None or view.is_steady:
        return
    for gap in view.gaps:
        if not gap.differs and gap.untried >= policy.aside * question.size and is_splittable(gap):
            yield Split(view.case, gap, Purpose.SCAN, 0.5)


def _repeats(known: Known, view: View, policy: Policy) -> Iterator[Wish]:
    pairs = [pair for gap in view.open_gaps for pair in ((gap.before, gap.after), (gap.after, gap.before))]
    for side in sorted({side for side, other in pairs if not is_settled(view.judged, side, other, policy)}):
        if len(known.results[view.case, side]) - trials_of(view.judged[side]) < IN_VAIN:
            yield Wish(view.case, side, 1.0, Purpose.VERIFY, missing_trials(view.judged[side], policy))


def _steps_left(question: Question, views: Sequence[View], wishes: Sequence[Wish], splits: Sequence[Split]) -> int:
    """About how many builds are still to be probed; shared gaps count once."""
    narrowing = {(split.gap.before, split.gap.after) for split in splits if split.purpose is Purpose.SPLIT}
    looks = [view for view in views if may_look_again(question, view)] if splits and not narrowing else []
    aside = {split.gap for split in splits if split.purpose is Purpose.SCAN} if not looks else set()
    certain = {wish.build for wish in wishes if wish.purpose is not Purpose.WALK}
    walking = any(wish.purpose is Purpose.WALK for wish in wishes)
    beginning = wishes and not narrowing and any(len(view.judged) < 2 for view in views)
    return (
        sum(ceil(log2(after - before)) for before, after in narrowing)
        + max((_looks_left(question, view) for view in looks), default=0)
        + len(aside)
        + len(certain)
        + walking
        + (ceil(log2(max(2, question.size))) if beginning else 0)
    )
