"""The ends of the range: where a search begins, and how it walks back when the beginning is unknown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from math import log

from bisect_tool.search.knowledge import Gap, Question
from bisect_tool.search.splits import cheaper
from bisect_tool.search.states import face
from bisect_tool.search.wishes import Purpose, View, Wish

# The first step back is a week of daily builds, and each further one reaches eight times as far: with the bisection that
# follows, a recent change costs few installs, and an old one few more than a bisection of the whole range.
FIRST_STEP = 7
GROWTH = 8


def end_wishes(question: Question, view: View, cheap: Sequence[Sequence[int]] = ()) -> list[Wish]:
    """What is still to be probed at the ends: each end itself, then the walk back, then how far it can be tested.

    `cheap` are groups of builds that cost less than others: a step of the walk back may prefer them.
    """
    edges = [_inwards(view, range(question.size - 1, -1, -1))]
    if not question.open_start:
        edges.append(_inwards(view, range(question.size)))
    wishes = [Wish(view.case, build, 2.0, Purpose.END) for build in edges if build is not None]
    wishes += _landmarks(question, view, wishes)
    if wishes or not view.judged:
        return wishes
    if question.open_start and (steps := list(_steps_back(question, view, cheap))):
        return steps
    limits = (_floor(view), _ceiling(view))
    return [Wish(view.case, build, 2.0, Purpose.END) for build in limits if build is not None]


def _landmarks(question: Question, view: View, others: Sequence[Wish]) -> Iterator[Wish]:
    """Each landmark like an end; of one that is untestable the next testable build on either side.

    With an unknown start only those that the walk back has passed count.
    """
    wished = {wish.build for wish in others}
    for landmark in question.landmarks:
        if landmark in view.judged or (question.open_start and not (view.judged and landmark >= min(view.judged))):
            continue
        around = (_inwards(view, range(landmark, question.size)), _inwards(view, range(landmark, -1, -1)))
        for build in around:
            if build is not None and build not in wished:
                wished.add(build)
                yield Wish(view.case, build, 2.0, Purpose.LANDMARK)


def _inwards(view: View, builds: range) -> int | None:
    """The next build to try for an end of the range: the end itself, then 1, 2, 4 … builds further in.

    None once a judged build bounds the range, or when all of these were tried in vain: the cost stays logarithmic even
    where nothing can be tested.
    """
    if builds and builds[0] in view.judged:
        return None
    nearest = min((builds.index(build) for build in view.judged if build in builds), default=len(builds))
    step = 0
    while step < nearest:
        if not view.is_tried(builds[step]):
            return builds[step]
        step = max(1, step * 2)
    return None


def _steps_back(question: Question, view: View, cheap: Sequence[Sequence[int]]) -> Iterator[Wish]:
    """Where the next step back from the newest build may go; nothing when the state has changed or the oldest is reached.

    The step itself is worth most. Cheaper builds at about its distance are offered too, worth the less the further off
    they are; nothing at the distance of the step before or the step after.
    """
    newest, oldest_tried, back = question.size - 1, view.oldest_tried, FIRST_STEP
    if oldest_tried == 0 or not view.is_steady:
        return
    while back < 2 * (newest - oldest_tried):
        back *= GROWTH
    aim = max(0, newest - back)
    yield Wish(view.case, aim, 1.5, Purpose.WALK)
    window = Gap(max(-1, newest - back * GROWTH), min(oldest_tried, newest - back // GROWTH), (), differs=False)
    for build in set(cheaper(window, cheap, (aim,))) - {aim}:
        off = abs(log((newest - build) / (newest - aim), GROWTH))
        if off < 1:
            yield Wish(view.case, build, 1.5 * (1 - off), Purpose.WALK)


def _floor(view: View) -> int | None:
    """Where to look for the oldest usable build, when an older one turned out untestable; None when it does not matter.

    It does not when a change is known and the oldest judged build passes: nothing is to be told about builds before.
    """
    oldest = next(iter(view.judged))
    older = bisect_left(view.in_vain, oldest)
    if not older or oldest - view.in_vain[older - 1] <= 1:
        return None
    if not view.is_steady and not face(view.judged[oldest]):
        return None
    return (oldest + view.in_vain[older - 1]) // 2


def _ceiling(view: View) -> int | None:
    """Where to look for the newest usable build, when a newer one turned out untestable; None when it is known."""
    newest = list(view.judged)[-1]
    newer = bisect_right(view.in_vain, newest)
    if newer == len(view.in_vain) or view.in_vain[newer] - newest <= 1:
        return None
    return (newest + view.in_vain[newer] + 1) // 2
