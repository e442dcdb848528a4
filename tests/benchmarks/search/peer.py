"""git-bayesect on the outcomes that our own search is measured on, through its own class (dependency group `peers`)."""

from __future__ import annotations

from importlib.util import find_spec

from tests.benchmarks.search.outcomes import BUILDS, Run, history

CONFIDENCES = (0.95, 0.99)  # the first is what it stops at by itself
MOST = 1000  # trials, as our own search has
MOST_UNCHANGED = 300  # it has no way to say that nothing changed


def is_here() -> bool:
    return find_spec("git_bayesect") is not None


def bayesect(before: float, after: float, seed: int) -> tuple[Run, ...]:
    """Its own loop: the build that it selects, until one place has the confidence. Its index 0 is the newest build.

    One run for each of `CONFIDENCES`, the smallest first: what it selects does not depend on them.
    """
    from git_bayesect import Bisector

    true, outcomes = history(before, after, seed)
    bisector, installed, found = Bisector([1.0] * BUILDS), set[int](), list[Run]()
    most = MOST_UNCHANGED if true is None else MOST
    for trials in range(1, most + 1):
        index = bisector.select()
        installed.add(index)
        bisector.record(index, outcomes.next(BUILDS - 1 - index))
        chance = float(bisector.distribution.max())
        while len(found) < len(CONFIDENCES) and chance >= CONFIDENCES[len(found)]:
            named = BUILDS - 1 - int(bisector.distribution.argmax())
            found.append(Run(true, named, trials, len(installed), chance))
        if len(found) == len(CONFIDENCES):
            return tuple(found)
    unnamed = Run(true, None, most, len(installed))
    return (*found, *[unnamed] * (len(CONFIDENCES) - len(found)))
