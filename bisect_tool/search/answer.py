"""From what is known to the answer: for each failure of each case its episodes, and how sure each end is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bisect_tool.search.episodes import End, Episode, Hole, Kind
from bisect_tool.search.flaky.episodes import episodes_of
from bisect_tool.search.flaky.noticing import is_studied, policy_of, studies
from bisect_tool.search.flaky.study import Study
from bisect_tool.search.knowledge import Known, Question, judged_of, timelines
from bisect_tool.search.luck import is_convincing
from bisect_tool.search.policy import Policy
from bisect_tool.search.states import Judged, State, Untestable, face

__all__ = ["Answer", "End", "Episode", "FailureAnswer", "Hole", "Kind", "Outcome", "answer"]


@dataclass(frozen=True, slots=True)
class FailureAnswer:
    """One failure of one case, with all its episodes, oldest first.

    `studies` are those of its rate, oldest first, when it comes and goes: the episodes then rest on their verdicts.
    """

    failure: str
    case: str
    episodes: tuple[Episode, ...]
    studies: tuple[Study, ...] = ()


class Outcome(StrEnum):
    """What a finished search amounts to."""

    EXACT = "exact"
    NARROWED = "narrowed"
    NO_CHANGE = "no change"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, and the timelines that it rests on."""

    outcome: Outcome
    failures: tuple[FailureAnswer, ...]
    timelines: Mapping[str, Mapping[int, State]]

    def boundaries(self) -> tuple[tuple[int, int], ...]:
        """The pairs of builds between which something changed, oldest first."""
        ends = (
            end
            for failure in self.failures
            for episode in failure.episodes
            for end in (episode.appeared, episode.fixed)
        )
        return tuple(sorted({(e.before, e.after) for e in ends if e.before is not None and e.after is not None}))


def answer(question: Question, known: Known, policy: Policy | None = None) -> Answer:
    """The answer as far as it is known; also usable before the search is over, when ends are merely `NARROWED`."""
    policy = policy or Policy()
    lines = timelines(question, known, (*question.controls, *question.tests))
    failures = tuple(
        _answer_of(question, known, policy, lines[case], case, failure)
        for case in question.tests
        for failure in _failures_of(lines[case])
    )
    return Answer(_outcome(question, lines, failures), failures, lines)


def _answer_of(
    question: Question, known: Known, policy: Policy, states: dict[int, State], case: str, failure: str
) -> FailureAnswer:
    judged = judged_of(states)
    if is_studied(judged, policy_of(question, case, policy)):
        found = studies(question, known, case, failure, policy)
        return FailureAnswer(failure, case, episodes_of(states, failure, found), found)
    return FailureAnswer(failure, case, _episodes(question, states, failure, policy))


def _failures_of(states: Mapping[int, State]) -> list[str]:
    """Every failure of a timeline, in the order of its first build."""
    found: dict[str, None] = {}
    for state in judged_of(states).values():
        found.update(dict.fromkeys(sorted(face(state))))
    return list(found)


def _episodes(question: Question, states: dict[int, State], failure: str, policy: Policy) -> tuple[Episode, ...]:
    judged = judged_of(states)
    stretches: list[list[int]] = []
    previous_has = False
    for build, state in judged.items():
        has = failure in face(state)
        if has and previous_has:
            stretches[-1].append(build)
        elif has:
            stretches.append([build])
        previous_has = has
    edge = _Edges(question, states, judged, policy)
    return tuple(Episode(edge.appeared(stretch[0]), edge.fixed(stretch[-1])) for stretch in stretches)


@dataclass(frozen=True, slots=True)
class _Edges:
    """Makes the ends of the episodes of one timeline."""

    question: Question
    states: dict[int, State]
    judged: dict[int, Judged]
    policy: Policy

    def appeared(self, first: int) -> End:
        before = max((build for build in self.judged if build < first), default=None)
        if before is None:
            return End(Kind.OPEN, None, first, self._holes(-1, first))
        return self._between(before, first, without=before)

    def fixed(self, last: int) -> End:
        after = min((build for build in self.judged if build > last), default=None)
        if after is None:
            return End(Kind.OPEN, last, None, self._holes(last, self.question.size))
        return self._between(last, after, without=after)

    def _between(self, before: int, after: int, *, without: int) -> End:
        holes = self._holes(before, after)
        sides = ((before, after), (after, before))
        verified = all(is_convincing(self.judged, side, other, self.policy) for side, other in sides)
        kind = Kind.EXACT if verified and not holes else Kind.NARROWED
        return End(kind, before, after, holes, face(self.judged[without]), verified)

    def _holes(self, before: int, after: int) -> tuple[Hole, ...]:
        return tuple(Hole(build, self._reason(build)) for build in range(before + 1, after))

    def _reason(self, build: int) -> str | None:
        state = self.states.get(build)
        return state.reason if isinstance(state, Untestable) else None


def _outcome(
    question: Question, lines: Mapping[str, Mapping[int, State]], failures: tuple[FailureAnswer, ...]
) -> Outcome:
    ends = [end for failure in failures for episode in failure.episodes for end in (episode.appeared, episode.fixed)]
    changes = [end for end in ends if end.kind is not Kind.OPEN]
    if changes:
        return Outcome.EXACT if all(end.kind is Kind.EXACT for end in changes) else Outcome.NARROWED
    judged = [len(judged_of(lines[case])) for case in question.tests]
    return Outcome.NO_CHANGE if judged and min(judged) > 1 else Outcome.NOT_JUDGED
