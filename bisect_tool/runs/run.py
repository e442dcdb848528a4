"""A whole run: specs in, reports out. Everything in between is in the other files of this room."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from threading import RLock

from bisect_tool.environments.cache_folder import copies_because
from bisect_tool.environments.environment import Environments
from bisect_tool.errors import (
    Answered,
    BisectError,
    BoundError,
    EmptyRange,
    HistoryUnavailable,
    PackageNotFound,
    RevisionUnknown,
    SettingError,
    StoreUnreachable,
    interrupted,
)
from bisect_tool.reports import events
from bisect_tool.reports.report import Report
from bisect_tool.runs.ahead import Ahead
from bisect_tool.runs.allowance import Allowance
from bisect_tool.runs.asking import Asked, ask
from bisect_tool.runs.confining import check_asked
from bisect_tool.runs.course import Course
from bisect_tool.runs.diagnosing.clinic import Clinic
from bisect_tool.runs.diary import Diary
from bisect_tool.runs.executors import Executor
from bisect_tool.runs.executors.choosing import Opening, Place, open_place
from bisect_tool.runs.history_reading import HistoryReader
from bisect_tool.runs.isolating import Laboratory
from bisect_tool.runs.loop import Loop
from bisect_tool.runs.pace import Pace
from bisect_tool.runs.rate_news import RateNews
from bisect_tool.runs.readiness import Readiness
from bisect_tool.runs.repeating import repeat_command
from bisect_tool.runs.reporting import Circumstances, report_of
from bisect_tool.runs.scouting import Scout
from bisect_tool.runs.session import Session
from bisect_tool.runs.slots import compares_numbers
from bisect_tool.runs.spending import Ledger
from bisect_tool.runs.stages import goes_to_commits, next_stage
from bisect_tool.runs.starting import start_notes
from bisect_tool.runs.surveying import COMMITS, Means, Stage, Wishes
from bisect_tool.runs.surveys import Surveys
from bisect_tool.runs.thin_session import ThinSession
from bisect_tool.runs.watch import Watch
from bisect_tool.runs.weighing import Weigher
from bisect_tool.runs.workshop import Workshop
from bisect_tool.search.together import Asking
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.store.gathered import Gathered
from bisect_tool.store.records import REVIEW, JsonText
from bisect_tool.store.results import Results, Topic

TOGETHER = 100  # specs that are asked, and what is known of them read, before the next ones


class Stopped(Exception):
    """A run was cut short by `error`; `reports` tell what is known so far."""

    def __init__(self, error: BisectError, reports: tuple[Report, ...]) -> None:
        super().__init__(str(error))
        self.error = error
        self.reports = reports


def run_specs(
    workshop: Workshop,
    specs: Sequence[ReadSpec],
    wishes: Wishes,
    tell: Callable[[events.Event], None],
    watch: Watch | None = None,
) -> tuple[Report, ...]:
    """Answer all specs, sharing every installed build; gives their reports in the same order.

    Those of specs that `watch` has given up for a fault of their own are left out. Raises `Stopped` when the machine or the
    user ends it before the answers are complete; a `BisectError` when it cannot even begin.
    """
    check_asked(workshop.settings, workshop.environ, specs)
    tell = _one_at_a_time(tell)
    results = workshop.results(lambda line: tell(events.Notice(line)))
    try:
        return _Run(workshop, results, wishes, tell, watch or Watch()).answer(specs)
    finally:
        results.close()


@dataclass
class _Run:
    workshop: Workshop
    results: Results
    wishes: Wishes
    tell: Callable[[events.Event], None]
    watch: Watch
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.monotonic)
    pace: Pace = field(default_factory=Pace)
    reader: HistoryReader | None = None
    place: Place = field(init=False)
    executor: Executor | None = None
    allowance: Allowance = field(default_factory=Allowance)
    ledger: Ledger = field(default_factory=lambda: Ledger(time.monotonic()))
    lost: set[int] = field(default_factory=set)
    surveys: Surveys = field(default_factory=Surveys)
    readiness: Readiness | None = None

    def __post_init__(self) -> None:
        self.place = open_place(Opening(self.workshop.settings, self.workshop.environ, self.tell))

    def answer(self, specs: Sequence[ReadSpec]) -> tuple[Report, ...]:
        """Search every spec in its first channel, then those that have a finer one in that, and so on."""
        try:
            return self._answer(specs)
        finally:
            self._close()

    def _answer(self, specs: Sequence[ReadSpec]) -> tuple[Report, ...]:
        environments = self.place.environments(self.workshop.environments())
        self.allowance.limit = self.workshop.settings.max_downloads
        if why := copies_because(self.workshop.cache, self.workshop.environ):
            self.tell(events.Notice(why))
        courses = [
            course
            for start in range(0, len(specs), TOGETHER)
            for course in self._taken_up(specs[start : start + TOGETHER], environments)
        ]
        going = courses
        try:
            while going:
                self._search(going)
                going = [course for course in going if not course.is_spared and self._go_on(course, environments)]
            for course in courses if self.wishes.isolate else ():
                self._with_watch(course, self._isolate)
            for course in courses if self.wishes.diagnose else ():
                self._with_watch(course, self._diagnose)
        except BisectError as error:
            raise Stopped(error, self._reports(courses, unfinished=True)) from error
        except KeyboardInterrupt as stop:
            raise Stopped(interrupted(), self._reports(courses, unfinished=True)) from stop
        self._close()
        try:
            return self._reports(courses, unfinished=False, history=self._history())
        except KeyboardInterrupt:
            # The answers are there, only the commits are still being read.
            return self._reports(courses, unfinished=False)

    def _taken_up(self, specs: Sequence[ReadSpec], environments: Environments) -> list[Course]:
        """The courses of some specs, without those of specs that are given up for a fault of their own."""
        sessions = list[Session]()
        for spec in specs:
            with self._sparing(spec):
                sessions.append(self._session(self._ask_first(spec), environments))
        known = self._gathered(sessions)
        runs = {uuid.uuid4().hex: session for session in sessions}
        self.results.start_runs({run: _about(session) for run, session in runs.items()})
        courses = list[Course]()
        for run, session in runs.items():
            with self._sparing(session.asked.read):
                courses.append(self._begin(run, session, known.get(session.host)))
        return courses

    @contextmanager
    def _sparing(self, spec: ReadSpec) -> Iterator[None]:
        """What goes wrong here ends the spec alone, where that is so."""
        try:
            yield
        except Exception as error:
            if not self.watch.spares(spec, error, is_begun=False):
                raise

    def _gathered(self, sessions: Sequence[Session]) -> dict[str, Gathered]:
        """What the store knows of all of them, by the kind of host."""
        if self.wishes.fresh:
            return {}
        topics: dict[str, list[Topic]] = defaultdict(list)
        for session in sessions:
            topics[session.host] += session.topics
        return {host: self.results.gather(of_host, host) for host, of_host in topics.items()}

    def _session(self, asked: Asked, environments: Environments) -> Session:
        if self.readiness is None:
            self.readiness = Readiness(environments)
        return Session(asked, self.results, environments, self.pace, readiness=self.readiness)

    def _with_watch(self, course: Course, do: Callable[[Course], object]) -> None:
        """Do something for a course that was not given up; a fault of its own gives it up."""
        if course.is_spared:
            return
        try:
            do(course)
        except Exception as error:
            if not self._spare(course.last, error):
                raise

    def _spare(self, session: Session, error: Exception) -> bool:
        """Whether a fault ends the spec of a session alone; it is remembered there."""
        if session.fault is None and self.watch.spares(session.asked.read, error, is_begun=True):
            session.fault = error
        return session.fault is not None

    def _ask(self, spec: ReadSpec, stage: Stage | None = None) -> Asked:
        return ask(spec, self.wishes, self._means(), stage, surveys=self.surveys)

    def _means(self) -> Means:
        means = self.workshop.means(lambda line: self.tell(events.Notice(line)), refresh=self.wishes.refresh)
        return self.place.means(means)

    def _ask_first(self, spec: ReadSpec) -> Asked:
        """The question in the coarsest channel that has builds to compare in the range."""
        given = spec.spec
        for channel in given.channel[:-1]:
            try:
                return self._ask(spec, Stage(channel, given.from_, given.to))
            except EmptyRange:
                continue
        return self._ask(spec, Stage(given.channel[-1], given.from_, given.to))

    def _begin(self, run: str, session: Session, known: Gathered | None) -> Course:
        from bisect_tool.runs.estimate import estimate_of  # which knows the workshop

        course = Course([], [], 0)
        self._add(course, run, session, known)
        recent = session.asked.recent
        if recent is not None and recent.is_kept:
            course.notes.append(recent.note())
        if not self.watch.is_patient:  # else nobody is told the time of all together
            self.ledger.estimate(estimate_of(session))
        return course

    def _add(self, course: Course, run: str, session: Session, known: Gathered | None = None) -> None:
        """Load a session, tell that it starts, and count the trials that were known before."""
        self.watch.begins(session.asked.read, run)
        session.load(known)
        self.tell(_started(session))
        course.runs.append(run)
        course.sessions.append(session)
        course.known += len(session.taken)

    def _search(self, courses: Sequence[Course]) -> None:
        workshop, sessions = self.workshop, [course.last for course in courses]
        executor = self._executor(sessions)
        most = 0 if compares_numbers(sessions) else workshop.settings.ahead
        explain = self.tell if self.wishes.explain else None
        diary = Diary(self.results, [course.runs[-1] for course in courses], sessions, explain)
        weigh = Weigher(self._history(), self.tell).weigh if self.wishes.prior == "history" else lambda _session: None
        for course in courses:  # what cannot even be begun with is noticed here
            self._with_watch(course, lambda one: one.last.asking())
        scout = Scout(self._search_thin, self.tell)
        if self.place.beside is not None:
            scout.scout(sessions)

        rates = RateNews(self.tell)

        def looked(askings: Sequence[Asking]) -> None:
            if len(courses) == 1 and sessions[0].fault is None:  # of one among many nobody follows the odds
                rates.look(courses[0].runs[-1], sessions[0])
            self._give_answers(courses, askings)

        while True:
            ahead = Ahead(executor, sessions, self.allowance, self.ledger, self.tell, most)
            means = (executor, ahead, self.ledger, self.tell, self.pace, diary, weigh, self.lost, self._spare, looked)
            Loop(sessions, workshop.cache, self.results, *means).run()
            if not scout.look_again(sessions):
                break
        self.ledger.ended = time.monotonic()

    def _give_answers(self, courses: Sequence[Course], askings: Sequence[Asking]) -> None:
        """Report the specs for which nothing more is wanted, where somebody waits for each."""
        self.watch.looked()
        if not self.watch.is_patient or self.wishes.isolate or self.wishes.diagnose:
            return
        for course, asking in zip(courses, askings, strict=True):
            if course.given is not None or asking.wants:
                continue  # of hundreds of specs nearly all, at each decision
            last = course.last
            is_over = last.asked.stage.channel == last.asked.spec.channel[-1] != COMMITS
            if is_over and not last.waits:
                self._with_watch(course, lambda one: self._give(one, None, is_last=False))

    def _give(self, course: Course, history: HistoryReader | None, *, is_last: bool) -> None:
        """Report a spec, unless the report that was given before still holds."""
        stand = course.stand
        if course.given is not None and course.given[0] == stand and not course.has_commits(history):
            self.watch.answered(course.last.asked.read, course.given[1], is_last=is_last)
            return
        report = self._report(course, unfinished=False, history=history)
        course.given = stand, report
        self.watch.answered(course.last.asked.read, report, is_last=is_last)

    def _search_thin(self, sessions: Sequence[ThinSession]) -> None:
        """Search thin builds, beside whatever is made ahead; nothing of that goes into the record of the run."""
        self._executor(sessions)
        workshop, tell = self.workshop, self.tell
        assert self.place.beside is not None
        executor = self.place.beside(sessions)
        ahead = Ahead(executor, sessions, self.allowance, self.ledger, tell, 0)
        diary = Diary(self.results, (), sessions, tell) if self.wishes.explain else None
        pace, ledger = sessions[0].pace, self.ledger
        try:
            Loop(
                sessions, workshop.cache, self.results, executor, ahead, ledger, tell, pace, diary, lost=self.lost
            ).run()
        finally:
            executor.close()

    def _executor(self, sessions: Sequence[Session]) -> Executor:
        """The slots of the run, opened once."""
        if self.executor is None:
            self.executor = self.place.open(sessions)
            self.ledger.slots = len(self.executor.slots)
            self.ledger.started = time.monotonic()
            if len(self.executor.slots) > 1:
                self.tell(events.SlotsOpened(tuple(self.executor.slots)))
        return self.executor

    def _close(self) -> None:
        if self.executor is not None:
            self.executor.close()
        self.executor = None
        self.place.close()

    def _go_on(self, course: Course, environments: Environments) -> bool:
        """Take up the next channel of a spec; False when there is none, or nothing to look closer at."""
        means = self._means()
        try:
            stage = next_stage(course.last, means)
            if stage is None:
                return False
            asked = self._ask(course.last.asked.read, stage)
        except (HistoryUnavailable, RevisionUnknown, SettingError, EmptyRange, BoundError, PackageNotFound) as error:
            # The coarser channel has an answer. That nothing finer is there is worth saying, and no reason to lose it.
            if not goes_to_commits(course.last) and not isinstance(error, EmptyRange | PackageNotFound):
                raise
            what = "the commits were" if goes_to_commits(course.last) else "the nightlies between the releases were"
            course.notes.append(f"{what} not searched: {error.what}; {error.advice}")
            return False
        session, run = self._session(asked, environments), uuid.uuid4().hex
        self.results.start_runs({run: _about(session)})
        self._add(course, run, session)
        return True

    def _history(self) -> HistoryReader:
        """Reads histories, each once."""
        if self.reader is None:
            tell = self.tell
            self.reader = HistoryReader(self._means().history, lambda line: tell(events.Notice(line)))
        return self.reader

    def _isolate(self, course: Course) -> None:
        """Cross tests on the last whole builds that a spec came to."""
        whole = [session for session in course.sessions if session.asked.stage.channel != COMMITS]
        if whole:
            laboratory = Laboratory(whole[-1], self.workshop.cache, self.workshop.environ, self.tell)
            course.isolation = laboratory.isolate()
        if not course.isolation:
            course.notes.append(
                "no cross tests were made: they need two whole builds of one Python with a change that is not flaky"
            )

    def _diagnose(self, course: Course) -> None:
        """Which part of the compiler makes the changes that the last channel with any has shown."""
        shown = next((one for one in reversed(course.sessions) if one.boundaries()), None)
        if shown is not None:
            clinic = Clinic(shown, self.workshop.cache, self.workshop.environ, self.tell, self.wishes.diagnose_jobs)
            for one in clinic.diagnose():
                course.diagnoses += (one,)  # so that those that are made are reported when the next one is cut short
        if not course.diagnoses:
            course.notes.append(
                "nothing was diagnosed: it needs two builds of torch with a change that is neither flaky nor one of a number"
            )

    def _reports(
        self, courses: Sequence[Course], *, unfinished: bool, history: HistoryReader | None = None
    ) -> tuple[Report, ...]:
        made = []
        for course in courses:
            if unfinished and course.given is None and not course.is_spared:
                course.given = None, self._report(course, unfinished=True)
            elif not unfinished:
                self._with_watch(course, lambda one: self._give(one, history, is_last=True))
            if course.given is not None and not course.is_spared:
                made.append(course.given[1])
        return tuple(made)

    def _report(self, course: Course, *, unfinished: bool, history: HistoryReader | None = None) -> Report:
        is_alone = not self.watch.is_patient  # where each is reported by itself, the time is that of all of them
        circumstances = Circumstances(
            started=self.started,
            elapsed=time.monotonic() - self.clock,
            cache=str(self.workshop.cache.root),
            uv=self.uv_version,
            repeat=repeat_command(course.sessions[0].asked, self.workshop.settings),
            trials_known=course.known,
            unfinished=unfinished,
            notes=(*course.notes, *self.place.notes(), *start_notes(course.sessions)),
            isolation=course.isolation,
            diagnoses=course.diagnoses,
            time=self.ledger.part(self.allowance.arrived, time.monotonic())
            if is_alone and (self.ledger.trials or self.ledger.stretches)
            else None,
        )
        report = report_of(course.sessions, circumstances, history)
        outcome = REVIEW if self.wishes.only else report.outcome
        kept = JsonText(report.model_dump_json())
        for run in course.runs:
            # Of a run that ends because the database is gone, what is known is told all the same.
            with suppress(StoreUnreachable) if unfinished else nullcontext():
                self.results.end_run(run, outcome, kept)
        self.tell(events.RunFinished(report.outcome))
        return report

    @cached_property
    def uv_version(self) -> str:
        """The version of uv, asked once."""
        return self.workshop.uv.version()


def _one_at_a_time(tell: Callable[[events.Event], None]) -> Callable[[events.Event], None]:
    """The same, for several threads: a slot that waits for a database speaks, too, and views are made for one."""
    one_speaks = RLock()

    def speak(event: events.Event) -> None:
        with one_speaks:
            tell(event)

    return speak


def _about(session: Session) -> dict[str, str]:
    """What the store is to know of a run when it starts."""
    spec = session.asked.spec
    return {"spec": spec.name, "repro": session.asked.repro.digest, "package": spec.package}


def _started(session: Session) -> events.RunStarted:
    asked = session.asked
    return events.RunStarted(
        spec=asked.spec.title or asked.spec.name,
        package=asked.spec.package,
        builds=tuple(build.version for build in asked.builds),
        cases=tuple((case.name, case.role.value) for case in asked.spec.cases),
        device=asked.device.kind,
        steps_left=session.steps_left(),
    )


def exit_status(reports: Sequence[Report]) -> Answered:
    """One status for all reports: the least certain of them."""
    order = {
        "exact": Answered.EXACT,
        "no change": Answered.NO_CHANGE,
        "narrowed": Answered.NARROWED,
        "not judged": Answered.NOT_JUDGED,
        "unfinished": Answered.NOT_JUDGED,
    }
    ranks = (Answered.EXACT, Answered.NO_CHANGE, Answered.NARROWED, Answered.NOT_JUDGED)
    return max((order[report.outcome] for report in reports), key=ranks.index, default=Answered.EXACT)
