"""The loop of a run: ask every question what it wants next, open the environment of the best build, run, store, repeat.

All questions of a run share their environments: the build that answers the most is opened next, and every question that
wants something of it gets it while it is open. A trial is stored before the next decision, so that the loop can be killed
at any point and started again.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field

from bisect_tool.environments import locks
from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.environment import (
    BuildUnusable,
    Checking,
    Environment,
    Environments,
    Making,
    Step,
    Trouble,
    Waiting,
)
from bisect_tool.environments.uv import Download
from bisect_tool.errors import CommandFault, MachineFault
from bisect_tool.reports import events
from bisect_tool.runs.comparing import Note
from bisect_tool.runs.judging import as_values, shortened, verdict_of
from bisect_tool.runs.measuring import Bench, ReferenceUnusable, machine_since_start, measure
from bisect_tool.runs.pace import Pace
from bisect_tool.runs.renewal import Renewal
from bisect_tool.runs.report_words import failure_names, word_of
from bisect_tool.runs.session import Session
from bisect_tool.runs.starting import Starting, needs_fresh
from bisect_tool.search.planner import Probe, Purpose
from bisect_tool.search.states import Passing, State
from bisect_tool.search.together import Asking, Choice, choose
from bisect_tool.spec.repro import case_digest
from bisect_tool.store.results import Results, StoredTrial
from bisect_tool.trials.failure import MachineAtFault
from bisect_tool.trials.trial import Ahead, FinishedTrial, TrialOrder, run_trial

ATTEMPTS = 3  # of a trial that the machine spoiled


@dataclass(slots=True)
class Loop:
    """Drives `sessions` until none of them wants anything more.

    `note` hears of each decision; `weigh` is asked before each one whether a history says where to look first.
    """

    sessions: Sequence[Session]
    cache: CacheFolder
    results: Results
    environments: Environments
    environ: Mapping[str, str] = field(repr=False)
    tell: Callable[[events.Event], None]
    pace: Pace = field(default_factory=Pace)
    note: Callable[[Sequence[Asking], Choice | None], None] = lambda _askings, _choice: None
    weigh: Callable[[Session], None] = lambda _session: None
    starting: Starting = field(init=False)

    def __post_init__(self) -> None:
        self.starting = Starting(lambda line: self.tell(events.Notice(line)))

    def run(self) -> None:
        """Search until every question is answered as far as it can be.

        Raises a `BisectError` when the machine gets in the way.
        """
        renewal = Renewal(self.sessions, self.tell)
        try:
            self._search(renewal)
            while renewal.renew_ends():
                self._search(renewal)
        finally:
            self.starting.close()

    def _search(self, renewal: Renewal) -> None:
        before: object = None
        while (choice := self._choose()) is not None:
            session, probe = choice
            if renewal.renew(session, probe.build):
                continue
            self._open(session, probe)
            now = (
                session.asked.repro.digest,
                (session.asked.builds[probe.build].identity, probe.cases, probe.purpose),
                len(session.seen[probe.cases[-1], probe.build]),
                session.fresh_only,
                dict(session.broken),
            )
            if now == before:
                raise MachineFault(
                    "the search asks for the same trial again although nothing was learned",
                    where=f"{probe.cases} on {session.asked.builds[probe.build].version}",
                    advice="this is a defect of bisect: report it with the file results.sqlite of the cache",
                )
            before = now

    def _choose(self) -> tuple[Session, Probe] | None:
        """The session and probe to serve next: of the build that is worth most to all sessions together."""
        for session in self.sessions:
            self.weigh(session)
        askings = [session.asking() for session in self.sessions]
        choice = choose(askings)
        self.note(askings, choice)
        return None if choice is None else (self.sessions[choice.asking], choice.probe)

    def _open(self, session: Session, probe: Probe) -> None:
        """Open the environment of the probe's build and serve every session that wants it."""
        asked = session.asked
        build = asked.builds[probe.build]
        steps = max(one.steps_left() for one in self.sessions)
        self.tell(events.BuildChosen(build.version, probe.purpose.value, steps, self.pace.seconds_left(steps)))
        key = asked.environment_key(probe.build)
        try:
            with self._use(session, probe.build) as environment, self.starting.holding(environment):
                self._opened(session, probe.build, environment)
                for other in self.sessions:
                    self._serve(other, key.digest, environment, probe if other is session else None)
        except BuildUnusable as unusable:
            for other in self.sessions:
                self._mark_unusable(other, key.digest, str(unusable))

    def _opened(self, session: Session, number: int, environment: Environment) -> None:
        build = session.asked.builds[number]
        if not environment.cached:
            session.installed.add(number)
            self.pace.installed(environment.seconds)
        self.tell(events.Installed(build.version, environment.seconds, environment.cached))

    def _serve(self, session: Session, digest: str, environment: Environment, chosen: Probe | None) -> None:
        """Run everything that `session` wants of the open build, first what it was opened for."""
        while (probe := chosen or session.wanted_in(digest)) is not None:
            chosen = None
            self._remember_health(session, probe.build, environment)
            self._run_cases(session, probe, environment)
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

    def _run_cases(self, session: Session, probe: Probe, environment: Environment) -> None:
        """Run the cases of a probe in order; a control that does not pass ends it."""
        controls = session.asked.question.controls
        for case in probe.cases:
            self._run_case(session, case, probe, environment)
            state = session.state(case, probe.build)
            self._report_state(session, case, probe.build, state)
            if case in controls and not isinstance(state, Passing):
                return

    def _run_case(self, session: Session, case: str, probe: Probe, environment: Environment) -> None:
        version = session.asked.builds[probe.build].version
        purpose = "verify" if probe.purpose is Purpose.VERIFY else "search"
        if case in session.asked.question.controls:
            purpose = "control"
        lock = self.cache.locks / f"trial-{session.trial_key(case, probe.build)}.lock"
        with locks.exclusive(lock, lambda: self.tell(events.Waiting(version, "another run makes the same trial"))):
            if self._take_over(session, case, probe.build):
                return
            if session.asked.has_metrics(case):
                self._compare(session, case, probe.build, environment, purpose)
            else:
                self._attempt(session, case, probe.build, environment, purpose, why=probe.purpose)
                if needs_fresh(session, case, probe.build):
                    self._attempt(session, case, probe.build, environment, purpose, why=probe.purpose, fresh=True)

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
    ) -> None:
        """One trial, made again when the machine spoils it."""
        version = session.asked.builds[number].version
        timeout = session.asked.spec.timeout_of(session.asked.case(case))
        for attempt in range(1, ATTEMPTS + 1):
            self.tell(events.TrialStarted(version, case, purpose, timeout))
            # What looks like a fault of the machine may be one of the fork.
            trouble = self._trial(session, case, number, environment, note, why, fresh=fresh or attempt > 1)
            if trouble is None:
                return
            if trouble.command or attempt == ATTEMPTS:
                error = CommandFault if trouble.command else MachineFault
                raise error(trouble.reason, where=f"case {case} on {version}", advice=trouble.advice)
            self.tell(events.MachineTrouble(trouble.reason, attempt, ATTEMPTS))

    def _compare(self, session: Session, case: str, number: int, environment: Environment, purpose: str) -> None:
        """Trials of a build and of its reference in turn, until the numbers of the case tell whether they differ."""
        bench = Bench(
            open_reference=lambda: self._reference(session, session.asked.reference(case)),
            run=lambda build, opened, note: self._attempt(session, case, build, opened, purpose, note),
            machine=machine_since_start(),
        )
        version, started = session.asked.builds[number].version, time.monotonic()
        # Two comparisons at once on one device would disturb each other.
        lock = self.cache.locks / f"measuring-{session.asked.device.name}.lock"
        try:
            with locks.exclusive(
                lock, lambda: self.tell(events.Waiting(version, "another run measures on this machine"))
            ):
                measure(session, case, number, environment, bench)
        except ReferenceUnusable as unusable:
            for other in self.sessions:
                self._mark_unusable(other, unusable.environment, str(unusable))
            return
        for compared in session.seen[case, number][-1].compared:
            self.tell(events.Notice(f"{version}: {case}: {compared}"))
        self._ended(session, case, number, time.monotonic() - started)

    @contextmanager
    def _reference(self, session: Session, number: int) -> Iterator[Environment]:
        """The environment of the reference build, beside the one that is open. Raises `ReferenceUnusable`."""
        with ExitStack() as stack:
            try:
                environment = stack.enter_context(self._use(session, number))
            except BuildUnusable as unusable:
                raise ReferenceUnusable(session.asked.environment_key(number).digest, str(unusable)) from unusable
            self._opened(session, number, environment)
            self._remember_health(session, number, environment)
            yield environment

    def _use(self, session: Session, number: int) -> AbstractContextManager[Environment]:
        """The environment of a build, made where needed. Raises `BuildUnusable`."""
        asked = session.asked
        build = asked.builds[number]
        return self.environments.use(
            asked.environment_key(number),
            lambda: asked.channel.installation(build, asked.spec.requires),
            device=asked.device.name,
            as_of=build.date if asked.listing.has_upload_times else None,
            tell=lambda step: self._report_step(session, number, step),
        )

    def _take_over(self, session: Session, case: str, number: int) -> bool:
        """Take the trials that another run has made of the same case in the meantime; whether they are enough."""
        asked = session.asked
        if asked.wishes.fresh:
            return False
        known = len(session.seen[case, number])
        digest = case_digest(asked.case(case), asked.spec)
        for build in {number, asked.reference(case)} if asked.has_metrics(case) else {number}:
            subject = session.subject(build)
            for trial in self.results.trials_of(asked.repro.digest, subject.setting, asked.device.kind):
                is_asked = trial.case_digest == digest and trial.subject.identity == subject.identity
                if is_asked and trial.folder not in session.taken:
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
    ) -> MachineAtFault | None:
        """One trial, stored; a fault of the machine is not stored."""
        asked = session.asked
        described = asked.case(case)
        order = self.starting.order(session, described, number, why, environment)
        ahead = None if fresh else self.starting.ahead(session, case, number, environment, why)
        finished = self._run(order, environment, ahead)
        observation = shortened(finished.observation)
        verdict = verdict_of(observation, asked.spec.failures)
        if isinstance(verdict, MachineAtFault):
            return verdict
        trial = StoredTrial(
            subject=session.subject(number),
            repro=asked.repro.digest,
            case_digest=case_digest(described, asked.spec),
            case_name=case,
            package=asked.spec.package,
            version=asked.builds[number].version,
            observation=as_values(observation) | (note.as_values() if note else {}),
            folder=str(finished.folder.relative_to(self.cache.root)),
            command=finished.command,
            duration=observation.duration,
        )
        self.results.add_trial(trial)
        session.take(case, number, trial)
        session.trials_made += 1
        if note is None:  # a comparison is told as a whole
            self._ended(session, case, number, observation.duration)
        if told := session.late.look(self._run, verdict, order, environment, asked.builds[number].version):
            self.tell(events.Notice(told))
        return None

    def _run(self, order: TrialOrder, environment: Environment, ahead: Ahead | None = None) -> FinishedTrial:
        """A trial in a new folder."""
        folder = self.cache.trials / f"{time.strftime('%Y%m%d')}-{uuid.uuid4().hex[:12]}"
        return run_trial(order, programs=environment.programs, folder=folder, environ=self.environ, ahead=ahead)

    def _ended(self, session: Session, case: str, number: int, seconds: float) -> None:
        self.pace.ran(seconds)
        self._report_trial(session, case, number, seconds)

    def _mark_unusable(self, session: Session, environment_digest: str, reason: str) -> None:
        for number, build in enumerate(session.asked.builds):
            if session.asked.environment_key(number).digest == environment_digest:
                self.results.add_unusable(session.subject(number), build.package, build.version, reason)
                self.tell(events.Untestable(build.version, reason))
                if not session.stand_in(number, reason):
                    session.broken[number] = reason

    def _report_step(self, session: Session, number: int, step: Step) -> None:
        build = session.asked.builds[number]
        match step:
            case Waiting():
                self.tell(events.Waiting(build.version, "another run makes this environment"))
            case Making():
                self.tell(events.Installing(build.version, build.size))
            case Checking():
                self.tell(events.Checking(build.version))
            case Download(name, size, done):
                self.pace.downloading(name, size, done=done)
                self.tell(events.Downloading(build.version, name, (size or 1) if done else 0, size))
            case Trouble(reason, attempt, of):
                self.tell(events.MachineTrouble(reason, attempt, of))

    def _report_trial(self, session: Session, case: str, number: int, seconds: float) -> None:
        state = session.state(case, number)
        version = session.asked.builds[number].version
        self.tell(
            events.TrialFinished(version, case, word_of(state), failure_name(session, state), seconds, stored=False)
        )

    def _report_state(self, session: Session, case: str, number: int, state: State | None) -> None:
        version = session.asked.builds[number].version
        self.tell(events.StateKnown(case, version, word_of(state), failure_name(session, state)))


def failure_name(session: Session, state: State | None) -> str | None:
    """What people call the failures of a state."""
    return ", ".join(failure_names(session, state)) or None
