"""Where an error of CUDA really happens: a second trial in which every kernel is waited for, as evidence beside the verdict.

An error inside a kernel is raised by some later call, so that its traceback points elsewhere. With `CUDA_LAUNCH_BLOCKING=1` the
call that started the kernel raises it. Timing is another then, and a failure may go away: so this trial is never a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

from bisect_tool.runs.judging import shortened, verdict_of
from bisect_tool.spec.model import NamedFailure
from bisect_tool.trials.device_words import is_late
from bisect_tool.trials.failure import Failed, FoundFailure, Verdict
from bisect_tool.trials.observation import Observation
from bisect_tool.trials.signature import places_of
from bisect_tool.trials.traceback_text import parse
from bisect_tool.trials.trial import FinishedTrial, TrialOrder

BLOCKING = "CUDA_LAUNCH_BLOCKING"


@dataclass(frozen=True, slots=True)
class Late:
    """A failure that was noticed late, and the trial that is to say where it happens."""

    failure: FoundFailure
    order: TrialOrder


@dataclass(slots=True)
class LateErrors:
    """Looks once for each failure of one question; `named` are the failures that the spec names.

    `notes` are by the identity of the failure.
    """

    named: tuple[NamedFailure, ...]
    notes: dict[str, str] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def due(self, verdict: Verdict, order: TrialOrder) -> Late | None:
        """The trial that is to say where the first late failure of `verdict` happens; None when there is nothing new."""
        failure = self._new_late_failure(verdict, order.variables)
        if failure is None:
            return None
        # Caches of its own, as another trial: what is shared belongs to the trials that count.
        return Late(failure, replace(order, variables={**order.variables, BLOCKING: "1"}, caches=None))

    def note(self, failure: FoundFailure, finished: FinishedTrial, version: str) -> str:
        """What that trial says, kept for the report."""
        found = _found(failure, shortened(finished.observation), self.named)
        log = f"{finished.folder.parent.name}/{finished.folder.name}/log.txt"
        self.notes[failure.id] = (
            f"{failure.name or failure.signature.title}: with {BLOCKING}=1 on {version} {found} ({log})"
        )
        return self.notes[failure.id]

    def _new_late_failure(self, verdict: Verdict, variables: Mapping[str, str]) -> FoundFailure | None:
        if not isinstance(verdict, Failed) or variables.get(BLOCKING) == "1":
            return None
        with self._lock:
            for failure in verdict.failures:
                if failure.id not in self.notes and is_late(f"{failure.signature.title}\n{failure.text}"):
                    self.notes[failure.id] = ""
                    return failure
        return None


def _found(failure: FoundFailure, observation: Observation, named: tuple[NamedFailure, ...]) -> str:
    verdict = verdict_of(observation, named)
    if not isinstance(verdict, Failed):
        return "it does not fail: its timing matters"
    chain = observation.chain or parse(observation.output)
    where = " > ".join(places_of(chain[-1].frames)) if chain else ""
    if failure.id not in {one.id for one in verdict.failures}:
        return f"it fails in another way: {verdict.failures[0].signature.title}" + (f", in {where}" if where else "")
    return f"it really happens in {where}" if where else "it fails in the same way, without a traceback"
