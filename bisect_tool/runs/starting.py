"""How the trials of a run start: fresh, or forked from a process that has imported the heavy modules; and with which caches.

A fork is almost a fresh start, and no answer rests on forks alone: trials at the ends of the range, at landmarks and of every
verification start fresh. Where a fork and a fresh start of one case on one build disagree, forks count no longer.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from bisect_tool.environments.environment import Environment
from bisect_tool.runs.judging import as_result
from bisect_tool.search.wishes import Purpose
from bisect_tool.spec.model import Case, Spec
from bisect_tool.trials.failure import CannotJudge, Passed
from bisect_tool.trials.trial import Forking, TrialOrder
from bisect_tool.trials.warm import WarmServers
from bisect_tool.trials.warming import shared_variables

if TYPE_CHECKING:
    from bisect_tool.runs.session import SeenTrial, Session

FORKED = frozenset({Purpose.WALK, Purpose.SCAN, Purpose.SPLIT})
WORTH = 1.0  # seconds: for shorter trials the imports cannot be what takes the time
SCRATCH = "scratch"  # the folder of an environment for what does not belong to the build


@dataclass(slots=True)
class Starting:
    """The processes to fork from and the shared caches of one run; usable from several threads. `tell` takes remarks."""

    tell: Callable[[str], None] = lambda _line: None
    _open: dict[Path, tuple[WarmServers, int]] = field(default_factory=dict)
    _caches: dict[tuple[str, str, str, bool, Path], Path] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)
    _refused: dict[str, str] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def holding(self, environment: Environment) -> Iterator[None]:
        """Trials in `environment` may be forked while this lasts."""
        programs = environment.programs
        with self._lock:
            servers, users = self._open.get(programs) or (
                WarmServers(programs, self._refused),
                0,
            )
            self._open[programs] = servers, users + 1
        try:
            yield
        finally:
            with self._lock:
                users = self._open[programs][1] - 1
                if users:
                    self._open[programs] = servers, users
                else:
                    del self._open[programs]
            if not users:
                servers.__exit__(None, None, None)

    def ahead(
        self, session: Session, case: str, number: int, environment: Environment, purpose: Purpose
    ) -> Forking | None:
        """How a trial may be forked; None when it is to start fresh.

        At most the first trial of a case on a build is forked, so that whatever is verified has been seen fresh.
        """
        spec, policy, held = session.asked.spec, session.asked.policy, self._open.get(environment.programs)
        if policy.repeats < 1 or session.seen[case, number]:
            return None
        if (
            held is None
            or purpose not in FORKED
            or session.fresh_only
            or not can_be_forked(spec, session.asked.case(case))
        ):
            return None
        seconds = [
            one.duration for (name, _), seen in session.seen.items() if name == case for one in seen if not one.warm
        ]
        if not seconds or seconds[-1] < WORTH:
            return None
        return Forking(held[0], independent=spec.flaky != "no", tell=self._remark)

    def order(
        self, session: Session, case: Case, number: int, purpose: Purpose, environment: Environment
    ) -> TrialOrder:
        """What a trial runs, with the caches that it shares with others where the spec says so."""
        order = session.asked.order(case)
        if not session.asked.spec.share_caches:
            return order
        # A verification has caches of its own, so that it does not find what the search has left.
        content, build = session.asked.repro.digest, session.asked.builds[number].identity
        key = (content, case.name, build, purpose is Purpose.VERIFY, environment.folder)
        with self._lock:
            if key not in self._caches:
                # Made by the trial, which may run on another machine.
                self._caches[key] = environment.folder / SCRATCH / f"caches-{uuid.uuid4().hex[:12]}"
            return replace(order, caches=self._caches[key])

    def close(self) -> None:
        """Remove the shared caches."""
        for folder in self._caches.values():
            shutil.rmtree(folder, ignore_errors=True)
        self._caches.clear()

    def _remark(self, reason: str) -> None:
        with self._lock:
            is_new = reason not in self._told
            self._told.add(reason)
        if is_new:
            self.tell(f"trials start fresh: {reason}")


def can_be_forked(spec: Spec, case: Case) -> bool:
    """Whether trials of `case` may be forked, as far as the spec says.

    Not when it says no; when failures come and go, because forks and fresh starts could differ in how often; when numbers are
    compared, which the imports are part of; nor when no other case has the same variables, because then nothing is saved.
    """
    if spec.warm == "off" or spec.flaky == "yes" or spec.metrics_of(case):
        return False
    alike = [one for one in spec.cases if _variables(spec, one) == _variables(spec, case)]
    return len(alike) > 1


def _variables(spec: Spec, case: Case) -> Mapping[str, str]:
    return shared_variables({**spec.env, **case.env})


def needs_fresh(session: Session, case: str, number: int) -> bool:
    """Whether the last trial was forked and takes the build out of the question, which no later trial would correct."""
    last = session.seen[case, number][-1:]
    if not last or not last[0].warm:
        return False
    is_control = case in session.question.controls
    return isinstance(last[0].verdict, CannotJudge) or (is_control and not isinstance(last[0].verdict, Passed))


def disagreement(trials: Sequence[SeenTrial]) -> bool:
    """Whether forked trials show something else than fresh ones of the same case on the same build."""
    forked = {as_result(one.verdict) for one in trials if one.warm}
    fresh = {as_result(one.verdict) for one in trials if not one.warm}
    return bool(forked and fresh) and not forked <= fresh


def start_notes(sessions: Sequence[Session]) -> tuple[str, ...]:
    """What a report says of how the trials of a spec were started in all of its channels, and of errors noticed late."""
    late = (note for session in sessions for note in session.late.notes.values() if note)
    fresh = (session.fresh_only for session in sessions if session.fresh_only)
    return tuple(dict.fromkeys((*late, *fresh, *_fork_notes(sessions))))


def _fork_notes(sessions: Sequence[Session]) -> tuple[str, ...]:
    seen = (
        one for session in sessions if not session.fresh_only for several in session.seen.values() for one in several
    )
    forked = sum(one.warm for one in seen)
    if not forked:
        return ()
    return (
        f"{forked} trials were forked from a process that had imported the modules at the top of the script; those at the "
        "ends of the range and of every verification started fresh, and no fork disagreed with them (`warm: off` in the spec "
        "starts all fresh)",
    )
