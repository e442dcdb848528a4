"""What the trials of one case say about one failure: the input of everything about flaky failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from bisect_tool.search.knowledge import Gap, Known, Question, blocked_builds, inside, results_by_case
from bisect_tool.search.states import Fail, Pass, Result

HIDDEN = 5  # trials that all failed in another way, before a build is taken to hide a failure


@dataclass(frozen=True, slots=True)
class Tally:
    """`shown` of `trials` trials showed the failure."""

    shown: int = 0
    trials: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.shown + other.shown, self.trials + other.trials)

    def __sub__(self, other: Tally) -> Tally:
        return Tally(self.shown - other.shown, self.trials - other.trials)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Builds 0 to `size` - 1; whether each trial of a build showed the failure, in the order in which they ran.

    `untestable` are the builds that say nothing about the failure; they have no trials. `silent` are those that said something
    once and are not worth a further trial: what they said counts. `ready` are the builds whose environment is here. `weights`
    are those of the question: they say where to look, and no verdict rests on them.
    """

    size: int
    trials: Mapping[int, tuple[bool, ...]] = field(default_factory=dict)
    untestable: frozenset[int] = frozenset()
    silent: frozenset[int] = field(default=frozenset(), kw_only=True)
    ready: frozenset[int] = frozenset()
    weights: tuple[float, ...] | None = None

    def tally(self, build: int) -> Tally:
        """The trials of one build."""
        ran = self.trials.get(build, ())
        return Tally(sum(ran), len(ran))

    def total(self, builds: Iterable[int]) -> Tally:
        """The trials of several builds together."""
        return sum((self.tally(build) for build in builds), Tally())

    def judged(self, low: int, high: int) -> list[int]:
        """The builds from `low` to `high` (inclusive) that have trials, oldest first."""
        return sorted(build for build, ran in self.trials.items() if ran and low <= build <= high)

    def gaps(self, judged: list[int]) -> list[Gap]:
        """The stretches between neighbouring judged builds, with the untestable builds inside."""
        in_vain = tuple(sorted(self.untestable))
        return [Gap(before, after, inside(in_vain, before, after), differs=True) for before, after in pairwise(judged)]


def showing(results: Iterable[Result], failure: str) -> tuple[bool, ...]:
    """Whether each trial showed `failure`; trials that say nothing about it are left out.

    A trial that failed in another way stopped before this failure could show, or hid it. It counts neither for nor
    against: to count it as a pass would put the change at the edge of what hides it.
    """
    return tuple(
        failure in result.failures if isinstance(result, Fail) else False
        for result in results
        if isinstance(result, Pass) or (isinstance(result, Fail) and failure in result.failures)
    )


def evidence_of(question: Question, known: Known, case: str, failure: str) -> Evidence:
    """What is known of one failure of one case.

    A build that was run and says nothing about it is untestable: it could not be judged, or another failure hides this one
    there. Since the other may come and go too, it has to hide this one `HIDDEN` times, and as often again for each trial that
    told something: so no build is run for ever in vain. What such a build told before counts: a failure that was seen is real.
    """
    seen = results_by_case(known)
    blocked = blocked_builds(question, known, seen)
    ran = {build: results for build, results in seen.get(case, {}).items() if results and build not in blocked}
    told = {build: showing(results, failure) for build, results in ran.items()}
    silent = {build for build, results in ran.items() if _is_silent(results, len(told[build]))}
    usable = {build: trials for build, trials in told.items() if trials}
    untestable = frozenset(blocked).union(silent - usable.keys())
    return Evidence(
        question.size, usable, untestable, known.ready, question.weights, silent=frozenset(silent & usable.keys())
    )


def _is_silent(results: Sequence[Result], usable: int) -> bool:
    """Whether trials of a build are spent in vain: hardly any of them says something, `usable` is their number.

    Where none does, a trial without a verdict is enough.
    """
    if not usable and not all(isinstance(result, Fail) for result in results):
        return True
    return len(results) - usable >= HIDDEN * (1 + usable)
