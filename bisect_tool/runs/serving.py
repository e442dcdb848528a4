"""Serving what is wanted of one build, in one slot: open its environment, run all questions' cases there, store each trial.

Written as generators: what takes time is a job that is yielded, and its result comes back. Whoever drives them (`loop`) has
several going at once, each in its slot, and everything here runs in one thread: sessions and the store need no locks.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.environment import BuildUnusable, Environment, EnvironmentKey
from bisect_tool.errors import CommandFault, MachineFault, RequirementsUnmet
from bisect_tool.reports import events
from bisect_tool.runs.ahead import Ahead
from bisect_tool.runs.comparing import Note
from bisect_tool.runs.executors import (
    Held,
    HoldLock,
    Job,
    Opened,
    OpenEnvironment,
    RanTrial,
    Result,
    RunTrial,
    SlotLost,
)
from bisect_tool.runs.judging import as_values, shortened, verdict_of
from bisect_tool.runs.measuring import Bench, ReferenceUnusable, machine_since_start, measure
from bisect_tool.runs.pace import Pace
from bisect_tool.runs.report_words import failure_names, word_of
from bisect_tool.runs.session import Session, is_cut_short
from bisect_tool.runs.spending import Work
from bisect_tool.runs.starting import Starting, needs_fresh
from bisect_tool.runs.turns import Turns
from bisect_tool.search.planner import Probe, Purpose
from bisect_tool.search.states import Passing, State
from bisect_tool.spec.repro import case_digest
from bisect_tool.stopping import Cancelled
from bisect_tool.store.leases import LeaseLost
from bisect_tool.store.results import Results, StoredTrial
from bisect_tool.trials.failure import MachineAtFault, Verdict
from bisect_tool.trials.trial import FinishedTrial, Forking, TrialOrder

ATTEMPTS = 3  # of a trial that the machine spoiled
Doing = Generator[Job, Result, None]


@dataclass(slots=True)
class Service:
    """What one slot does with one build. `slot` is its name where there are several.

    `work` is the environment that is being made, and `waits_for` what the lock stands for that is being waited for. `spare` is
    asked whether a fault ends a session alone.
    """

    sessions: Sequence[Session]
    cache: CacheFolder
    results: Results
    pace: Pace
    ahead: Ahead
    starting: Starting
    tell: Callable[[events.Event], None]
    slot: str | None = None
    work: Work = field(default_factory=Work)
    waits_for: str = ""
    spare: Callable[[Session, Exception], bool] = lambda _session, _error: False
    turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        self.turns = Turns(self.results.leases, self.tell)

    def serve(self, session: Session, probe: Probe) -> Doing:
        """Open the environment of the probe's build and serve every session that wants it."""
        digest = session.asked.environment_key(probe.build).digest
        with ExitStack() as stack:
            if not (yield from self.turns.wait(stack, session, probe.build, self._waiting_for)):
                return
            try:
                environment = yield from self._open(stack, session, probe.build)
                stack.enter_context(self.starting.holding(environment))
                for other in self.sessions:
                    chosen = probe if other is session and self._still_has(session, probe.build, digest) else None
                    if chosen is None and _wants_nothing(other, digest):
                        continue
                    with self.turns.losing(other):
                        yield from self._spared(other, self._serve(other, digest, environment, chosen))
            except BuildUnusable as unusable:  # stored before the next host has its turn
                self._mark_unusable(digest, unusable)
            except (Cancelled, SlotLost):
                raise
            except Exception as error:
                if session.fault is not None or not self._gives_up(session, probe.build, error):
                    raise

    @staticmethod
    def _still_has(session: Session, number: int, digest: str) -> bool:
        """While it was opened another slot may have learned that another file stands for the build."""
        return session.fault is None and session.asked.environment_key(number).digest == digest

    def _spared(self, session: Session, doing: Doing) -> Doing:
        """`doing`, which serves `session`: a fault of that one alone does not end what the others want here."""
        try:
            yield from doing
        except (Cancelled, SlotLost, BuildUnusable, LeaseLost):
            raise
        except Exception as error:
            if not self.spare(session, error):
                raise

    def _gives_up(self, session: Session, number: int, error: Exception) -> bool:
        """Whether an environment that cannot be made ends only the sessions which need one like it."""
        setting, package = session.asked.setting_of(number), session.asked.spec.package
        alike = [session]
        if isinstance(error, RequirementsUnmet):  # true of every build
            others = (one for one in self.sessions if one.asked.spec.package == package and one is not session)
            alike += [one for one in others if setting in one.asked.settings and one.fault is None]
        spared = [self.spare(one, error) for one in alike]
        return all(spared)

    def look(self, session: Session, number: int, cases: Sequence[str], repeat: int) -> Doing:
        """Run `cases` on one build until each has `repeat` trials, whatever they show; what is known counts.

        A comparison of numbers is made once: it has seen to chance by itself. Raises `BuildUnusable`, which is stored.
        """
        with ExitStack() as stack:
            yield from self.turns.wait(stack, session, number, self._waiting_for)
            try:
                environment = yield from self._open(stack, session, number)
                stack.enter_context(self.starting.holding(environment))
                self._remember_health(session, number, environment)
                for turn in range(1, repeat + 1):
                    for case in cases:
                        wanted = 1 if session.asked.has_metrics(case) else turn
                        if len(session.seen[case, number]) < wanted:
                            yield from self._look_at(session, case, number, environment, turn)
            except BuildUnusable as unusable:
                self._mark_unusable(session.asked.environment_key(number).digest, unusable)
                raise
            except LeaseLost as lost:
                raise MachineFault(
                    "this run was silent for so long that another one has taken its work over",
                    where=session.asked.builds[number].version,
                    advice="run the same command again: it takes over what the other one finds",
                ) from lost

    def _look_at(self, session: Session, case: str, number: int, environment: Environment, turn: int) -> Doing:
        probe = Probe(number, (case,), Purpose.END if turn == 1 else Purpose.VERIFY, worth=0.0)
        yield from self._run_case(session, case, probe, environment)
        self._report_state(session, case, number, session.state(case, number))

    def _open(self, stack: ExitStack, session: Session, number: int) -> Generator[Job, Result, Environment]:
        """The environment of a build, made where needed, until `stack` is closed. Raises `BuildUnusable`."""
        asked, key = session.asked, session.asked.environment_key(number)
        self.ahead.check(key)
        self.ahead.allowance.check(session, number)
        opened = yield open_job(session, number)
        if not isinstance(opened, Opened):
            raise TypeError(opened)
        stack.callback(opened.lease.close)
        self._opened(session, number, key, opened.environment)
        build = asked.builds[number]
        self.tell(events.Installed(build.version, opened.environment.seconds, opened.environment.cached, self.slot))
        return opened.environment

    def _opened(self, session: Session, number: int, key: EnvironmentKey, environment: Environment) -> None:
        """Count an environment that was made in this run, ahead of need or now."""
        made = self.ahead.take(key.digest)
        if made is not None:
            session.installed.add(number)
            self.pace.installed(made.seconds, made.work.fetching, made.work.fetched)
        elif not environment.cached:
            session.installed.add(number)
            self.pace.installed(environment.seconds, self.work.fetching, self.work.fetched)
            self.ahead.allowance.fetched(session, number, self.work.fetched)

    def _serve(self, session: Session, digest: str, environment: Environment, chosen: Probe | None) -> Doing:
        """Run everything that `session` wants of the open build, first what it was opened for.

        What another host is at is left to that one.
        """
        with ExitStack() as stack:
            while (probe := chosen or session.wanted_in(digest)) is not None:
                chosen = None
                if not self.turns.take(stack, session, probe.build):
                    return
                self._remember_health(session, probe.build, environment)
                yield from self._run_cases(session, probe, environment)
                if probe.purpose is not Purpose.VERIFY:
                    return

    def _remember_health(self, session: Session, number: int, environment: Environment) -> None:
        subject = session.subject(number)
        if subject.identity not in session.healths:
            health = {
                "version": environment.health.version,
                "revision": environment.health.revision,
                "python": environment.health.python,
                "packages": dict(environment.health.packages),
                "facts": dict(environment.health.facts),
            }
            self.results.add_health(subject, health)
            session.healths[subject.identity] = health

    def _run_cases(self, session: Session, probe: Probe, environment: Environment) -> Doing:
        """Run the cases of a probe in order; a control that does not pass ends it."""
        controls = session.question.controls
        for case in probe.cases:
            yield from self._run_case(session, case, probe, environment)
            state = session.state(case, probe.build)
            self._report_state(session, case, probe.build, state)
            if case in controls and not isinstance(state, Passing):
                return

    def _run_case(self, session: Session, case: str, probe: Probe, environment: Environment) -> Doing:
        purpose = "verify" if probe.purpose is Purpose.VERIFY else "search"
        if case in session.question.controls:
            purpose = "control"
        lock = HoldLock(self.cache.locks / f"trial-{session.trial_key(case, probe.build)}.lock")
        with ExitStack() as stack:
            if not self.turns.are_shared:
                yield from self._hold(stack, lock, "another run makes the same trial")
            if self._take_over(session, case, probe.build):
                return
            if session.asked.has_metrics(case):
                yield from self._compare(session, case, probe.build, environment, purpose)
            else:
                yield from self._attempt(session, case, probe.build, environment, purpose, why=probe.purpose)
                if needs_fresh(session, case, probe.build):
                    again = self._attempt(
                        session, case, probe.build, environment, purpose, why=probe.purpose, fresh=True
                    )
                    yield from again

    def _waiting_for(self, why: str) -> None:
        self.waits_for = why

    def _hold(self, stack: ExitStack, lock: HoldLock, why: str) -> Doing:
        """Hold a lock until `stack` is closed."""
        self._waiting_for(why)
        held = yield lock
        if not isinstance(held, Held):
            raise TypeError(held)
        stack.callback(held.lease.close)

    def _attempt(
        self,
        session: Session,
        case: str,
        number: int,
        environment: Environment,
        purpose: str,
        note: Note | None = None,
        why: Purpose = Purpose.VERIFY,
        *,
        fresh: bool = False,
    ) -> Doing:
        """One trial, made again when the machine spoils it."""
        version = session.asked.builds[number].version
        timeout = session.asked.spec.timeout_of(session.asked.case(case))
        for attempt in range(1, ATTEMPTS + 1):
            self.tell(events.TrialStarted(version, case, purpose, timeout, self.slot))
            # What looks like a fault of the machine may be one of the fork.
            is_fresh = fresh or attempt > 1
            trouble = yield from self._trial(session, case, number, environment, note, why, fresh=is_fresh)
            if trouble is None:
                return
            if trouble.command or attempt == ATTEMPTS:
                error = CommandFault if trouble.command else MachineFault
                raise error(trouble.reason, where=f"case {case} on {version}", advice=trouble.advice)
            self.tell(events.MachineTrouble(trouble.reason, attempt, ATTEMPTS))

    def _compare(self, session: Session, case: str, number: int, environment: Environment, purpose: str) -> Doing:
        """Trials of a build and of its reference in turn, until the numbers of the case tell whether they differ."""
        bench = Bench(
            open_reference=lambda stack: self._reference(stack, session, session.asked.reference(case)),
            run=lambda build, opened, note: self._attempt(session, case, build, opened, purpose, note),
            machine=environment.machine or machine_since_start(),
        )
        version, started = session.asked.builds[number].version, time.monotonic()
        # Two comparisons at once on one device would disturb each other.
        lock = HoldLock(self.cache.locks / f"measuring-{session.asked.device.name}.lock")
        try:
            with ExitStack() as stack:
                yield from self._hold(stack, lock, "another run measures on this machine")
                yield from measure(session, case, number, environment, bench)
        except ReferenceUnusable as unusable:
            self._mark_unusable(unusable.environment, unusable.why)
            return
        for compared in session.seen[case, number][-1].compared:
            self.tell(events.Notice(f"{version}: {case}: {compared}"))
        self._ended(session, case, number, time.monotonic() - started)

    def _reference(self, stack: ExitStack, session: Session, number: int) -> Generator[Job, Result, Environment]:
        """The environment of the reference build, beside the one that is open. Raises `ReferenceUnusable`."""
        try:
            environment = yield from self._open(stack, session, number)
        except BuildUnusable as unusable:
            raise ReferenceUnusable(session.asked.environment_key(number).digest, unusable) from unusable
        self._remember_health(session, number, environment)
        return environment

    def _take_over(self, session: Session, case: str, number: int) -> bool:
        """Take the trials that another run has made of the same case in the meantime; whether they are enough."""
        asked = session.asked
        if asked.wishes.fresh:
            return False
        known = len(session.seen[case, number])
        digest = case_digest(asked.case(case), asked.spec)
        for build in {number, asked.reference(case)} if asked.has_metrics(case) else {number}:
            subject = session.subject(build)
            about = {"case_digest": digest, "identity": subject.identity}
            for trial in self.results.trials_of(asked.repro.digest, subject.setting, asked.device.kind, **about):
                if trial.folder not in session.taken and not is_cut_short(trial):
                    session.take(case, build, trial)
        return len(session.seen[case, number]) > known

    def _trial(
        self,
        session: Session,
        case: str,
        number: int,
        environment: Environment,
        note: Note | None,
        why: Purpose,
        *,
        fresh: bool,
    ) -> Generator[Job, Result, MachineAtFault | None]:
        """One trial, stored; a fault of the machine is not stored."""
        order = self.starting.order(session, session.asked.case(case), number, why, environment)
        forking = None if fresh else self.starting.ahead(session, case, number, environment, why)
        subject = session.subject(number)
        finished = yield from self._run(order, environment, forking)
        if session.subject(number) != subject:  # what ran is no longer what the number means: decide anew
            raise Cancelled
        verdict = self._store(session, case, number, finished, note)
        if isinstance(verdict, MachineAtFault):
            return verdict
        if (late := session.late.due(verdict, order)) is not None:
            waited = yield from self._run(late.order, environment)
            version = session.asked.builds[number].version
            self.tell(events.Notice(session.late.note(late.failure, waited, version)))
        return None

    def _run(
        self, order: TrialOrder, environment: Environment, forking: Forking | None = None
    ) -> Generator[Job, Result, FinishedTrial]:
        """A trial in a new folder."""
        folder = self.cache.trials / f"{time.strftime('%Y%m%d')}-{uuid.uuid4().hex[:12]}"
        ran = yield RunTrial(order, environment, folder, forking)
        if not isinstance(ran, RanTrial):
            raise TypeError(ran)
        return ran.finished

    def _store(self, session: Session, case: str, number: int, finished: FinishedTrial, note: Note | None) -> Verdict:
        asked = session.asked
        observation = shortened(finished.observation)
        verdict = verdict_of(observation, asked.spec.failures)
        if isinstance(verdict, MachineAtFault):
            return verdict
        trial = StoredTrial(
            subject=session.subject(number),
            repro=asked.repro.digest,
            case_digest=case_digest(asked.case(case), asked.spec),
            case_name=case,
            package=asked.spec.package,
            version=asked.builds[number].version,
            observation=as_values(observation) | (note.as_values() if note else {}),
            folder=str(finished.folder.relative_to(self.cache.root)),
            command=finished.command,
            duration=observation.duration,
            log=self.results.keep_log(finished.folder),
        )
        self.results.add_trial(trial, self.turns.lease_of(session))
        session.take(case, number, trial)
        session.trials_made += 1
        if note is None:  # a comparison is told as a whole
            self._ended(session, case, number, observation.duration)
        return verdict

    def _ended(self, session: Session, case: str, number: int, seconds: float) -> None:
        self.pace.ran(seconds)
        state, version = session.state(case, number), session.asked.builds[number].version
        name = failure_name(session, state)
        self.tell(events.TrialFinished(version, case, word_of(state), name, seconds, stored=False, slot=self.slot))

    def _mark_unusable(self, environment_digest: str, unusable: BuildUnusable) -> None:
        reason = str(unusable)
        for session in self.sessions:
            for number, build in enumerate(session.asked.builds):
                if session.asked.environment_key(number).digest == environment_digest:
                    host = session.host if unusable.is_of_host else ""
                    self.results.add_unusable(session.subject(number), build.package, build.version, reason, host)
                    self.tell(events.Untestable(build.version, reason))
                    if not session.stand_in(number, reason):
                        session.broken[number] = reason

    def _report_state(self, session: Session, case: str, number: int, state: State | None) -> None:
        version = session.asked.builds[number].version
        self.tell(events.StateKnown(case, version, word_of(state), failure_name(session, state)))


def _wants_nothing(session: Session, digest: str) -> bool:
    """Whether a session surely wants nothing of an environment."""
    try:
        return not session.may_want(digest)
    except Exception:  # noqa: BLE001  it comes again where it is known whose it is
        return False


def open_job(session: Session, number: int) -> OpenEnvironment:
    """The job of opening the environment of a build."""
    asked = session.asked
    build = asked.builds[number]
    return OpenEnvironment(
        asked.environment_key(number),
        lambda: asked.channel.installation(build, asked.spec.beside),
        device=asked.device.name,
        as_of=build.date if asked.listing.has_upload_times else None,
    )


def failure_name(session: Session, state: State | None) -> str | None:
    """What people call the failures of a state."""
    return ", ".join(failure_names(session, state)) or None
