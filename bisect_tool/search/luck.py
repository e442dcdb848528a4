"""Whether a build that does not show a failure may merely have been lucky.

As long as a failure was never seen to come and go on one build, 1 + `verify` trials that agree are enough. Once it was,
the side of a transition that has it is run `FLAKY_TRIALS` times, to learn how often it shows, and the side that has not
until so many trials without it are luck with a chance of at most `DOUBT`.

That chance comes from Laplace's rule of succession: when `shown` of `trials` showed a failure, the next one does not with
the chance (trials - shown + 1) / (trials + 2). The trials of all builds that have the failure count together, but for one
of each that showed it: without that one nobody would have looked at the build again. Where a single build showed the
failure more rarely, its own rate is what counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bisect_tool.search.policy import Policy
from bisect_tool.search.states import Flaky, Judged, face, trials_of, trials_showing

DOUBT = 0.01
FLAKY_TRIALS = 12


def chance_of_luck(shown: int, trials: int, without: int) -> float:
    """The chance of `without` trials that do not show a failure which `shown` of `trials` showed elsewhere."""
    chance = 1.0
    for further in range(without):
        chance *= (trials - shown + 1 + further) / (trials + 2 + further)
    return chance


def is_settled(judged: Mapping[int, Judged], build: int, other: int, policy: Policy) -> bool:
    """Whether `build` was run often enough, next to `other`: nothing more is to be spent on it."""
    trials = trials_of(judged[build])
    return trials >= max(policy.most_trials, 1 + policy.repeats) or is_convincing(judged, build, other, policy)


def is_convincing(judged: Mapping[int, Judged], build: int, other: int, policy: Policy) -> bool:
    """Whether the trials of `build` show that it differs from `other`; false for a failure too rare to rule out."""
    state, beside = judged[build], judged[other]
    enough = 1 + policy.repeats
    if isinstance(state, Flaky) and face(state) - face(beside):
        enough = max(enough, min(FLAKY_TRIALS, policy.most_trials))
    if trials_of(state) < enough:
        return False
    missing = face(beside) - face(state)
    return all(_luck(judged.values(), failure, trials_of(state)) <= DOUBT for failure in missing)


def missing_trials(state: Judged, policy: Policy) -> int:
    """How many more trials a side of a transition needs at least, 1 or more, should all of them agree."""
    enough = min(FLAKY_TRIALS, policy.most_trials) if isinstance(state, Flaky) else 1 + policy.repeats
    return max(1, enough - trials_of(state))


def _luck(states: Iterable[Judged], failure: str, without: int) -> float:
    """The chance that `without` trials do not show `failure` where it is; 0 when it never came and went."""
    seen = [(shown, trials_of(state)) for state in states if (shown := trials_showing(state, failure))]
    rarest = min(shown / trials for shown, trials in seen)
    if rarest == 1:
        return 0.0
    again, further = sum(shown - 1 for shown, _ in seen), sum(trials - 1 for _, trials in seen)
    return max((1 - rarest) ** without, chance_of_luck(again, further, without))
