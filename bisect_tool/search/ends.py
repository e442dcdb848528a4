"""The ends of the range: where a search begins, and how it walks back when the beginning is unknown."""

from __future__ import annotations

from bisect_tool.search.knowledge import Question
from bisect_tool.search.states import face
from bisect_tool.search.wishes import Purpose, View, Wish

# The first step back is a week of daily builds, and each further one reaches eight times as far: with the bisection that
# follows, a recent change costs few installs, and an old one few more than a bisection of the whole range.
FIRST_STEP = 7
GROWTH = 8


def end_wishes(question: Question, view: View) -> list[Wish]:
    """What is still to be probed at the ends: each end itself, then the walk back, then how far it can be tested."""
    edges = [_inwards(view, range(question.size - 1, -1, -1))]
    if not question.open_start:
        edges.append(_inwards(view, range(question.size)))
    wishes = [Wish(view.case, build, 2.0, Purpose.END) for build in edges if build is not None]
    if wishes or not view.judged:
        return wishes
    if question.open_start and (step := _step_back(question, view)) is not None:
        return [Wish(view.case, step, 1.5, Purpose.WALK)]
    limits = (_floor(view), _ceiling(view))
    return [Wish(view.case, build, 2.0, Purpose.END) for build in limits if build is not None]


def _inwards(view: View, builds: range) -> int | None:
    """The next build to try for an end of the range: the end itself, then 1, 2, 4 … builds further in.

    None once a judged build bounds the range, or when all of these were tried in vain: the cost stays logarithmic even
    where nothing can be tested.
    """
    nearest = min((builds.index(build) for build in view.judged), default=len(builds))
    step = 0
    while step < nearest:
        if builds[step] not in view.states:
            return builds[step]
        step = max(1, step * 2)
    return None


def _step_back(question: Question, view: View) -> int | None:
    """The next step back from the newest build; None when the state has changed or the oldest build is reached."""
    if 0 in view.states or not view.is_steady:
        return None
    newest, oldest_tried, back = question.size - 1, min(view.states), FIRST_STEP
    while newest - back >= oldest_tried:
        back *= GROWTH
    return max(0, newest - back)


def _floor(view: View) -> int | None:
    """Where to look for the oldest usable build, when an older one turned out untestable; None when it does not matter.

    It does not when a change is known and the oldest judged build passes: nothing is to be told about builds before.
    """
    oldest = min(view.judged)
    if not view.is_steady and not face(view.judged[oldest]):
        return None
    unusable = max((build for build in view.states if build < oldest), default=oldest - 1)
    return None if oldest - unusable <= 1 else (oldest + unusable) // 2


def _ceiling(view: View) -> int | None:
    """Where to look for the newest usable build, when a newer one turned out untestable; None when it is known."""
    newest = max(view.judged)
    unusable = min((build for build in view.states if build > newest), default=newest + 1)
    return None if unusable - newest <= 1 else (newest + unusable + 1) // 2
