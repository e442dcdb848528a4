"""The loop of a run: ask every question what it wants next, open the environment of the best build, run, store, repeat.

All questions of a run share their environments: the build that answers the most is opened next, and every question that
wants something of it gets it while it is open. Several slots work at the same time, each on a build of its own; while they run
trials, the environments that are likely to be next are made in the background. A trial is stored before the next decision, so
that the loop can be killed at any point and started again. Everything but the work itself happens in the thread of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from bisect_tool.environments.cache_folder import CacheFolder
from bisect_tool.environments.environment import Checking, Waiting
from bisect_tool.environments.uv import Download
from bisect_tool.errors import BisectError, DiskFull, MachineFault
from bisect_tool.reports import events
from bisect_tool.runs.ahead import Ahead
from bisect_tool.runs.diary import Diary
from bisect_tool.runs.executors import (
    AheadEnded,
    AheadTold,
    Arrival,
    Ended,
    Executor,
    GpuNews,
    Held,
    HoldLock,
    Job,
    News,
    NoSlotCame,
    Opened,
    OpenEnvironment,
    PlaceNews,
    RanTrial,
    Result,
    SlotFull,
    SlotLost,
    SlotsJoined,
    SlotsRested,
    Told,
    WaitingForFirst,
    WaitingForLock,
)
from bisect_tool.runs.job_news import OTHER_RUN, event_of
from bisect_tool.runs.pace import Pace
from bisect_tool.runs.renewal import Renewal
from bisect_tool.runs.resting import Resting
from bisect_tool.runs.serving import Doing, Service
from bisect_tool.runs.session import Session
from bisect_tool.runs.spending import Ledger, Work
from bisect_tool.runs.starting import Starting
from bisect_tool.search.abreast import Start, Under, decide
from bisect_tool.search.planner import Probe
from bisect_tool.search.together import Asking, Choice, choose
from bisect_tool.stopping import Cancelled
from bisect_tool.store.results import Results


@dataclass(slots=True)
class _Course:
    """What a slot is at: its build, the generator that serves it, and the job that it waits for."""

    under: Under
    session: Session
    number: int
    service: Service
    doing: Doing
    job: Job | None = None
    is_called_off: bool = False

    @property
    def version(self) -> str:
        """The version of the build."""
        return self.session.asked.builds[self.number].version

    @property
    def is_fetching(self) -> bool:
        """Whether it waits for its environment, or for the turn to make it, and that is not just being proven."""
        if isinstance(self.job, OpenEnvironment):
            return not self.service.work.is_proven_now
        return isinstance(self.job, HoldLock) and self.job.turn is not None


@dataclass(slots=True)
class Loop:
    """Drives `sessions` until none of them wants anything more.

    `diary` hears of each decision; `weigh` is asked before each one whether a history says where to look first. `spare` is
    asked whether a fault ends one session alone, which then has it as its `fault`; `looked` hears how all stand.
    """

    sessions: Sequence[Session]
    cache: CacheFolder
    results: Results
    executor: Executor
    ahead: Ahead
    ledger: Ledger
    tell: Callable[[events.Event], None]
    pace: Pace = field(default_factory=Pace)
    diary: Diary | None = None
    weigh: Callable[[Session], None] = lambda _session: None
    lost: set[int] = field(default_factory=set)
    spare: Callable[[Session, Exception], bool] = lambda _session, _error: False
    looked: Callable[[Sequence[Asking]], None] = lambda _askings: None
    starting: Starting = field(init=False)
    _courses: dict[int, _Course] = field(default_factory=dict)
    _again: dict[int, Job] = field(default_factory=dict)
    _before: dict[int, object] = field(default_factory=dict)
    _pending: list[Arrival] = field(default_factory=list)
    _has_news: bool = True
    _may_look: bool = False
    _counted: int = 0
    _resting: Resting = field(default_factory=Resting)

    def __post_init__(self) -> None:
        self.starting = Starting(lambda line: self.tell(events.Notice(line)))

    def run(self) -> None:
        """Search until every question is answered as far as it can be.

        Raises a `BisectError` when the machine gets in the way. Whatever ends it, no process is left running.
        """
        renewal = Renewal(self.sessions, self.tell)
        for session in self.sessions:
            session.hidden = self.ahead.hidden
        try:
            self._search(renewal)
            while renewal.renew_ends():
                self._search(renewal)
            self._stop_ahead()  # its ends are not for the loop that comes next
        except BaseException:
            self._wind_up()
            raise
        finally:
            self.starting.close()

    @property
    def _is_alone(self) -> bool:
        return len(self.executor.slots) == 1

    @property
    def _under(self) -> list[Under]:
        return [course.under for course in self._courses.values() if not course.is_called_off]

    def _search(self, renewal: Renewal) -> None:
        self._has_news = True
        while True:
            if self._has_news:
                self._counted = len(self.executor.slots)  # of one that comes later `SlotsJoined` is still to be read
                self._decide(renewal)
            if not self._courses:
                if self._rouses():
                    continue
                if not self._waits_for_slots():
                    return
            self._pending += self._arrivals()
            while self._pending:
                self._arrived(self._pending.pop(0))

    def _stop_ahead(self) -> None:
        self.ahead.stop()
        while self.ahead.is_busy:
            for arrival in self.executor.arrivals():
                self._arrived(arrival)

    def _rouses(self) -> bool:
        """With nothing under way: whether slots that had no room try again, because something is wanted.

        Raises `DiskFull` when they all have tried since the last thing that went well.
        """
        if not self._resting.slots or not decide(self._askings(), (), 1).starts:
            return False
        if self.ahead.is_busy:
            self._stop_ahead()
            self._resting.went_well()  # what it took is free
            if not self._resting.slots:
                return True  # they have rested long enough meanwhile
        self._roused(self._resting.rouse_earlier())
        return True

    def _roused(self, slots: Sequence[int]) -> None:
        for slot in slots:
            self.tell(events.Notice(f"slot {self.executor.slots[slot]} is tried again: there may be room by now"))
            self._has_news = True

    def _waits_for_slots(self) -> bool:
        """Whether every slot is lost, others may come, and something is wanted that they could do."""
        is_stranded = len(self.lost) >= self._counted and self.executor.regrows
        return is_stranded and bool(decide(self._askings(), (), 1).starts)

    def _arrivals(self) -> list[Arrival]:
        """What has happened; while nothing has, there is time to think of what comes next."""
        if self._may_look:
            if happened := self.executor.arrivals(timeout=0):
                return happened
            self._look_ahead()
            self._may_look = False
        return self.executor.arrivals()

    def _decide(self, renewal: Renewal) -> None:
        """Give every free slot something to do, and call off what has become useless."""
        while self._decided(renewal):
            pass
        self._has_news, self._may_look = False, True

    def _decided(self, renewal: Renewal) -> bool:
        """Decide once; True when there is more to decide. What goes wrong with one question alone ends that one."""
        try:
            return self._decide_alone(renewal) if self._is_alone else self._decide_abreast(renewal)
        except BisectError:
            raise
        except Exception:
            if not self._spare_culprits():
                raise
            return True

    def _spare_culprits(self) -> bool:
        """Whether some of the questions alone cannot be decided upon, and are given up for it."""
        found = False
        for session in self.sessions:
            if session.fault is not None:  # giving it up has not helped
                continue
            try:
                choose([session.asking()])
            except Exception as error:  # noqa: BLE001  whatever it is, it is kept as what ended the question
                found = self.spare(session, error) or found
        return found

    def _askings(self) -> list[Asking]:
        askings = [self._asking(session) for session in self.sessions]
        self.looked(askings)
        return askings

    def _asking(self, session: Session) -> Asking:
        try:
            if session.fault is None:
                self.weigh(session)
            return session.asking()
        except Exception as error:
            if session.fault is not None or not self.spare(session, error):
                raise
            return session.asking()  # which wants nothing any more

    def _decide_alone(self, renewal: Renewal) -> bool:
        """With one slot: the build that is worth most to all sessions together; True when there is more to decide."""
        if self._courses or self.lost or self._resting.slots:
            return False
        askings = self._askings()
        choice = choose(askings)
        if self.diary is not None:
            self.diary.note(askings, choice)
        if choice is None:
            return False
        if not renewal.renew(self.sessions[choice.asking], choice.probe.build):
            self._begin(0, choice, Under(choice.environment, ((choice.asking, choice.probe),)), askings)
        return True

    def _decide_abreast(self, renewal: Renewal) -> bool:
        askings = self._askings()
        going = [(slot, course) for slot, course in self._courses.items() if not course.is_called_off]
        unable = self.lost | self._resting.slots
        free = [slot for slot in range(len(self.executor.slots)) if slot not in self._courses and slot not in unable]
        under = [course.under for _, course in going]
        made = decide(askings, under, len(free))
        if not made.useless and not free:
            return False
        if self.diary is not None:
            self.diary.note_abreast(askings, under, len(free), made)
        for place in made.useless:
            self._call_off(*going[place])
        if any(self._renew(renewal, start) for start in made.starts):
            return True
        for slot, start in self._paired(free, made.starts):
            self._begin(slot, start.choice, start.under, askings)
        # Something that came to nothing at once has left its slot free again.
        return any(slot not in self._courses for slot, _ in zip(free, made.starts, strict=False))

    def _paired(self, free: Sequence[int], starts: Sequence[Start]) -> list[tuple[int, Start]]:
        """Which free slot begins with what: where its environment is, as far as that can be had."""
        left, near = list(free), {}
        for place, start in enumerate(starts):
            slot = next((one for one in left if self.executor.prefers(one, start.choice.environment)), None)
            if slot is not None:
                near[place] = slot
                left.remove(slot)
        return [(near[place] if place in near else left.pop(0), start) for place, start in enumerate(starts)]

    def _renew(self, renewal: Renewal, start: Start) -> bool:
        return renewal.renew(self.sessions[start.choice.asking], start.choice.probe.build)

    def _call_off(self, slot: int, course: _Course) -> None:
        course.is_called_off = True
        self.tell(events.CalledOff(course.version, self._name(slot)))
        self.executor.cancel(slot)

    def _begin(self, slot: int, choice: Choice, under: Under, askings: Sequence[Asking]) -> None:
        """Serve the chosen build in a slot."""
        session, probe = self.sessions[choice.asking], choice.probe
        try:
            self._refuse_repetition(slot, session, probe)
        except MachineFault as error:
            if not self.spare(session, error):
                raise
            return
        steps = _steps_left(askings)
        version, name = session.asked.builds[probe.build].version, self._name(slot)
        self.tell(events.BuildChosen(version, probe.purpose.value, steps, self.pace.seconds_left(steps), name))
        means = (self.cache, self.results, self.pace, self.ahead, self.starting, self.tell)
        service = Service(self.sessions, *means, slot=name, spare=self.spare)
        course = _Course(under, session, probe.build, service, service.serve(session, probe))
        self._courses[slot] = course
        self.ahead.settle(askings, self._under)
        self._advance(slot, course, None)

    def _refuse_repetition(self, slot: int, session: Session, probe: Probe) -> None:
        now = (
            session.asked.repro.digest,
            (session.asked.builds[probe.build].identity, probe.cases, probe.purpose),
            sum(map(len, session.seen.values())),
            session.fresh_only,
            session.turns_lost,
            session.caught_up,
            dict(session.broken),
            len(self.lost),
        )
        if now == self._before.get(slot):
            raise MachineFault(
                "the search asks for the same trial again although nothing was learned",
                where=f"{probe.cases} on {session.asked.builds[probe.build].version}",
                advice="this is a defect of bisect: report it with the file results.sqlite of the cache",
            )
        self._before[slot] = now

    def _advance(self, slot: int, course: _Course, result: Result | BaseException | None) -> None:
        """Hand a result to what waits for it, and begin with the job that comes next."""
        try:
            job = _next_job(course, result)
        except (StopIteration, Cancelled):
            pass
        except SlotFull as full:
            self._rest(slot, full)
        except SlotLost as lost:
            self._lose(slot, lost)
        else:
            self._start(slot, course, job)
            return
        del self._courses[slot]
        self._has_news = True

    def _start(self, slot: int, course: _Course, job: Job) -> None:
        course.job = job
        if isinstance(job, OpenEnvironment):
            course.service.work = Work()
        self.executor.start(slot, job)

    def _rest(self, slot: int, full: SlotFull) -> None:
        """Its work is wanted as before, and goes to another slot until this one is tried again."""
        self._resting.lay(slot, full)
        self._before.pop(slot, None)  # it may be asked for the very same again
        self.tell(events.SlotLost(self.executor.slots[slot], str(full), rests=True))

    def _lose(self, slot: int, lost: SlotLost) -> None:
        """Its work is wanted as before, and goes to another slot."""
        self.lost.add(slot)
        self.executor.retire(slot)
        name = self.executor.slots[slot]
        self.tell(events.SlotLost(name, str(lost)))
        if len(self.lost) == len(self.executor.slots) and not self.executor.regrows:
            raise MachineFault(
                f"the GPU is lost: {lost}" if self._is_alone else f"no GPU is left; the last one that was lost: {lost}",
                where=name,
                advice="see what nvidia-smi and `dmesg | grep Xid` say, reset the GPU or restart the machine, then run the "
                "same command again: it goes on from where it stopped",
            )

    def _arrived(self, arrival: Arrival) -> None:
        match arrival:
            case Told(slot, news, at):
                self._told(slot, self._courses[slot], news, at)
            case Ended():
                self._ended(arrival)
            case AheadTold():
                self.ahead.told(arrival)
                self._may_look = self._may_look or isinstance(arrival.step, Checking)
            case AheadEnded():
                self.ahead.ended(arrival)
                self._start_again()
                self._may_look = True
            case PlaceNews(text):
                self.tell(events.Notice(text))
            case SlotsJoined(names):
                self.ledger.slots = len(self.executor.slots) - len(self.lost)
                self.tell(events.SlotsJoined(names))
                self._has_news = True
            case SlotsRested(slots):
                self._roused(self._resting.rouse(slots))
            case NoSlotCame(error):
                if len(self.lost) == len(self.executor.slots):
                    raise error

    def _ended(self, arrival: Ended) -> None:
        slot, result, course = arrival.slot, arrival.result, self._courses[arrival.slot]
        job = course.job
        if isinstance(job, OpenEnvironment):
            work = course.service.work
            self.ledger.stretches += work.end(arrival.at)
            if isinstance(result, BaseException):
                self.ahead.allowance.came_to_nothing(work.fetched + work.broken_off)
        if isinstance(result, RanTrial):
            self._resting.went_well()
            self.ledger.ran(result.finished.observation.duration, arrival.at)
            self._has_news = True
        if isinstance(result, DiskFull) and isinstance(job, OpenEnvironment):
            if self.ahead.is_busy:
                self._again[slot] = job
                self.ahead.stop()
                return
            if len(self._courses) > 1:
                result = SlotLost(f"there is no room for its environment beside those of the others: {result.what}")
        self._advance(slot, course, result)
        self._may_look = self._may_look or isinstance(result, Opened)

    def _start_again(self) -> None:
        """What had no room beside an environment that was made ahead is made once that is gone."""
        if not self.ahead.is_busy:
            for slot, job in self._again.items():
                self._start(slot, self._courses[slot], job)
            self._again.clear()

    def _look_ahead(self) -> None:
        """Make what comes next, as soon as all is here for some slot; before that the network is for what is needed now."""
        if self.ahead.most and not all(self._is_fetching(course) for course in self._courses.values()):
            askings = [self._asking(session) for session in self.sessions]
            self.ahead.look(askings, self._under, _steps_left(askings))

    def _is_fetching(self, course: _Course) -> bool:
        return course.is_fetching and not self.ahead.proves(course.under.environment)

    def _told(self, slot: int, course: _Course, news: News, at: float) -> None:
        if not isinstance(news, WaitingForLock | GpuNews):
            # Waiting for the first environment is waiting, too.
            step = Waiting() if isinstance(news, WaitingForFirst) else news
            self.ledger.stretches += course.service.work.take(step, at)
        self._may_look = self._may_look or isinstance(news, Checking)
        if isinstance(news, Download) and not news.done and not news.here:
            self.ahead.allowance.announced(news.size)
        is_ours = self.ahead.makes(course.under.environment)
        why = "it is being made ahead of need" if is_ours else OTHER_RUN
        build = course.session.asked.builds[course.number]
        self.tell(event_of(news, build, self._name(slot), lock=course.service.waits_for, environment=why))

    def _name(self, slot: int) -> str | None:
        """What the slot is called where there are several."""
        return None if self._is_alone else self.executor.slots[slot]

    def _wind_up(self) -> None:
        """Leave nothing running; a trial that ended in the last moment is stored all the same."""
        self.executor.close()
        for arrival in (*self._pending, *self.executor.arrivals(timeout=0)):
            result = arrival.result if isinstance(arrival, Ended) else None
            if isinstance(arrival, Ended) and isinstance(result, RanTrial):
                with suppress(StopIteration, BisectError):
                    self._courses[arrival.slot].doing.send(result)
            elif isinstance(result, Opened | Held):
                result.lease.close()
        for course in self._courses.values():
            course.doing.close()


def _steps_left(askings: Sequence[Asking]) -> int:
    """About how many builds are still to be probed."""
    return max(asking.wants.steps_left if asking.wants is not None else 0 for asking in askings)


def _next_job(course: _Course, result: Result | BaseException | None) -> Job:
    """The next job of what a slot is at. Raises `StopIteration` at its end, `Cancelled` when it was called off."""
    if result is None:
        return next(course.doing)
    job = course.doing.throw(result) if isinstance(result, BaseException) else course.doing.send(result)
    return course.doing.throw(Cancelled()) if course.is_called_off else job
