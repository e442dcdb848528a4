"""What one run knows about one question: loaded from the store, growing with each trial."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bisect_tool.environments.environment import Environments
from bisect_tool.runs.asking import Asked
from bisect_tool.runs.comparing import Compared
from bisect_tool.runs.comparisons import Comparisons
from bisect_tool.runs.judging import as_result, from_values, verdict_of
from bisect_tool.search.answer import Answer, answer
from bisect_tool.search.knowledge import Known, state_at
from bisect_tool.search.planner import Plan, plan
from bisect_tool.search.states import NoVerdict, Result, State
from bisect_tool.spec.repro import case_digest
from bisect_tool.store.results import Results, StoredTrial, Subject
from bisect_tool.trials.failure import Failed, FoundFailure, MachineAtFault, Verdict


@dataclass(frozen=True, slots=True)
class SeenTrial:
    """One trial of a case on a build, as the report needs it; a comparison counts as one, and says what it `compared`."""

    verdict: Verdict
    duration: float
    folder: str
    command: str
    compared: tuple[Compared, ...] = ()


@dataclass(slots=True)
class Session:
    """The knowledge of one question; `plan` and `answer` are computed from it."""

    asked: Asked
    results: Results
    environments: Environments
    seen: dict[tuple[str, int], list[SeenTrial]] = field(default_factory=lambda: defaultdict(list))
    broken: dict[int, str] = field(default_factory=dict)
    healths: dict[str, dict[str, Any]] = field(default_factory=dict)
    failures: dict[str, FoundFailure] = field(default_factory=dict)
    trials_made: int = 0
    installed: set[int] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    comparisons: Comparisons = field(init=False)
    _ids: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.comparisons = Comparisons(self.asked, self.trial_key)

    def load(self) -> None:
        """Take over what the store knows, unless the question is to be asked afresh."""
        asked = self.asked
        self._ids = {build.identity: number for number, build in enumerate(asked.builds)}
        if asked.wishes.retry_untestable or asked.wishes.fresh:
            self.results.forget_unusable(asked.setting, asked.device.kind)
        self.healths = self.results.healths(asked.setting, asked.device.kind)
        for identity, reason in self.results.unusable(asked.setting, asked.device.kind).items():
            if identity in self._ids:
                self.broken[self._ids[identity]] = reason
        if not asked.wishes.fresh:
            names = {case_digest(case, asked.read.spec): case.name for case in asked.read.spec.cases}
            for trial in self.results.trials_of(asked.repro.digest, asked.setting, asked.device.kind):
                if trial.subject.identity in self._ids and trial.case_digest in names:
                    self.take(names[trial.case_digest], self._ids[trial.subject.identity], trial)

    def take(self, case: str, build: int, trial: StoredTrial) -> Verdict:
        """Judge a stored trial and add it to what is known."""
        verdict = verdict_of(from_values(trial.observation), self.asked.read.spec.failures)
        if isinstance(verdict, MachineAtFault):
            return verdict
        self.taken.add(trial.folder)
        seen = SeenTrial(verdict, trial.duration, trial.folder, trial.command)
        if self.asked.has_metrics(case):
            finished = self.comparisons.take(case, build, trial, verdict)
            if finished is None:
                return verdict
            build, verdict = finished.build, finished.verdict
            shown = finished.shown
            seen = SeenTrial(verdict, finished.duration, shown.folder, shown.command, finished.compared)
        self.seen[case, build].append(seen)
        if isinstance(verdict, Failed):
            for failure in verdict.failures:
                self.failures.setdefault(failure.id, failure)
        return verdict

    def subject(self, build: int) -> Subject:
        """What results about a build are stored under."""
        return Subject(self.asked.builds[build].identity, self.asked.setting, self.asked.device.kind)

    def trial_key(self, case: str, build: int) -> str:
        """A name for "this case on this build", the same in every process."""
        asked = self.asked
        parts = (
            asked.repro.digest,
            case_digest(asked.case(case), asked.read.spec),
            asked.builds[build].identity,
            asked.setting,
            asked.device.kind,
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]

    def known(self) -> Known:
        """Everything known, as the planner takes it."""
        found: dict[tuple[str, int], tuple[Result, ...]] = {
            key: tuple(as_result(trial.verdict) for trial in trials) for key, trials in self.seen.items() if trials
        }
        for case, build, reason in self._without_reference():
            found.setdefault((case, build), (NoVerdict(reason),))
        ready = frozenset(
            number
            for number in range(len(self.asked.builds))
            if self.environments.is_ready(self.asked.environment_key(number))
        )
        return Known(found, dict(self.broken), ready)

    def _without_reference(self) -> Iterator[tuple[str, int, str]]:
        """Every case and build that cannot be judged, because the reference build cannot be used; with the reason."""
        for case in self.asked.read.spec.tests:
            if self.asked.has_metrics(case.name) and (number := self.asked.reference(case.name)) in self.broken:
                reason = (
                    f"the reference build {self.asked.builds[number].version} cannot be used: {self.broken[number]}"
                )
                yield from ((case.name, build, reason) for build in range(len(self.asked.builds)))

    def plan(self) -> Plan:
        """What to run next."""
        return plan(self.asked.question, self.known(), self.asked.wishes.policy)

    def answer(self) -> Answer:
        """The answer, as far as it is known."""
        return answer(self.asked.question, self.known(), self.asked.wishes.policy)

    def state(self, case: str, build: int) -> State | None:
        """The state of one case on one build."""
        return state_at(self.asked.question, self.known(), case, build)
