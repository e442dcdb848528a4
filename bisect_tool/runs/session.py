"""What one run knows about one question: loaded from the store, growing with each trial."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

from bisect_tool.builds.build import Build
from bisect_tool.builds.limits import place_of
from bisect_tool.environments.environment import Environment, Environments
from bisect_tool.runs.asking import Asked
from bisect_tool.runs.comparing import Compared
from bisect_tool.runs.comparisons import Comparisons
from bisect_tool.runs.judging import as_result, from_values, verdict_of
from bisect_tool.runs.late_errors import LateErrors
from bisect_tool.runs.pace import Pace
from bisect_tool.runs.readiness import Readiness
from bisect_tool.runs.revisions import same_commit
from bisect_tool.runs.starting import disagreement
from bisect_tool.runs.thin_look import ThinLook
from bisect_tool.search.answer import Answer, answer
from bisect_tool.search.knowledge import Known, Question, judged_of, state_at
from bisect_tool.search.planner import Plan, Probe, Purpose, plan, probe_on
from bisect_tool.search.prices import Prices
from bisect_tool.search.states import Hint, NoVerdict, Result, State
from bisect_tool.search.together import Asking
from bisect_tool.search.wants import Wants, wants_of
from bisect_tool.spec.repro import case_digest
from bisect_tool.store.gathered import Gathered
from bisect_tool.store.hosts import host_kind
from bisect_tool.store.results import Results, StoredTrial, Subject, Topic
from bisect_tool.trials.failure import CannotJudge, Failed, FoundFailure, MachineAtFault, Verdict
from bisect_tool.trials.overlay import misfit


@dataclass(frozen=True, slots=True)
class SeenTrial:
    """One trial of a case on a build, as the report needs it; a comparison counts as one, and says what it `compared`.

    `warm`: it was forked, see `bisect_tool.runs.starting`. `kept` is the address of its log where logs are shared.
    """

    verdict: Verdict
    duration: float
    folder: str
    command: str
    compared: tuple[Compared, ...] = ()
    warm: bool = False
    kept: str | None = None

    @property
    def log(self) -> str:
        """Where its log is: an address in the shared place, else a path in the cache of this host."""
        return self.kept or f"{self.folder}/log.txt"


@dataclass(slots=True)
class Session:
    """The knowledge of one question; `plan` and `answer` are computed from it.

    `replaced` are the versions whose files turned out to be other ones than the listing named. `hidden` are environments that
    are here ahead of need, by digest: no decision takes notice of them. `hints` and `thin` are what a thin search before this
    one has left (`scouting`); `waits`: another one is to come before a second look. `fresh_only` says why trials that were
    forked do not count; empty as long as they do. `fault` is what has ended this question alone: it wants nothing more.
    `turns_lost`: how often another host has taken work of this one over; `caught_up`: how often others had learned something.
    """

    asked: Asked
    results: Results
    environments: Environments
    pace: Pace = field(default_factory=Pace)
    seen: dict[tuple[str, int], list[SeenTrial]] = field(default_factory=lambda: defaultdict(list))
    broken: dict[int, str] = field(default_factory=dict)
    healths: dict[str, dict[str, Any]] = field(default_factory=dict)
    failures: dict[str, FoundFailure] = field(default_factory=dict)
    trials_made: int = 0
    installed: set[int] = field(default_factory=set)
    replaced: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    hints: Mapping[tuple[str, int], Hint] = field(default_factory=dict)
    thin: ThinLook | None = None
    waits: bool = False
    fresh_only: str = ""
    fault: Exception | None = None
    turns_lost: int = 0
    caught_up: int = 0
    comparisons: Comparisons = field(init=False)
    late: LateErrors = field(init=False)
    _ids: dict[str, int] = field(default_factory=dict)
    _forgotten: set[str] = field(default_factory=set)
    readiness: Readiness | None = field(default=None, kw_only=True)
    _environments: tuple[str, ...] = ()
    _kept: tuple[Known, Wants] | None = None
    _at: tuple[Asked, object] | None = None
    _told: tuple[object, Known] | None = None
    _priced: tuple[object, object, Prices] | None = None
    _knew: Known | None = None
    _last: Asking | None = None
    _put: tuple[Asked, Question] | None = None
    _answered: tuple[Question, Known, Answer] | None = None

    def __post_init__(self) -> None:
        if self.readiness is None:
            self.readiness = Readiness(self.environments)
        self.comparisons = Comparisons(self.asked, self.trial_key)
        self.late = LateErrors(self.asked.spec.failures)

    def load(self, known: Gathered | None = None) -> None:
        """Take over what the store knows, unless the question is to be asked afresh; `known` was read from it before."""
        asked = self.asked
        self._ids = {build.identity: number for number, build in enumerate(asked.builds)}
        for setting in asked.settings:
            self._load_builds(setting, known or self.results)
            if not asked.wishes.fresh:
                self._load_trials(setting, known or self.results)
        for number, reason in list(self.broken.items()):
            if self.stand_in(number, reason):
                return  # which has loaded everything again

    def catch_up(self) -> bool:
        """Take over what other hosts have learned since; whether that was anything."""
        before = set(self.taken), dict(self.broken), [build.identity for build in self.asked.builds]
        self.load()
        is_news = before != (self.taken, self.broken, [build.identity for build in self.asked.builds])
        self.caught_up += is_news
        return is_news

    def known_of(self, build: int) -> tuple[object, ...]:
        """Something that is another one once more is known of a build."""
        counts = tuple(len(self.seen.get((case.name, build), ())) for case in self.asked.spec.cases)
        return (self.asked.builds[build].identity, self.broken.get(build), counts)

    def stand_in(self, number: int, reason: str) -> bool:
        """Take another build of the same commit for one that cannot be used, for `reason`; False when there is none."""
        asked, selection = self.asked, self.asked.selection
        build = asked.builds[number]
        twin, *others = asked.twins.get(build.identity, ()) or (None,)
        if twin is None:
            return False
        dead = same_commit(build, twin)
        left = [
            *(one for one in selection.left_out if one.version not in {other.version for other in (twin, *others)}),
            replace(dead, detail=f"{dead.detail}; it cannot be used: {reason}"),
            *(same_commit(other, twin) for other in others),
        ]
        left.sort(key=lambda one: place_of(one, dated=selection.dated))
        twins = {**asked.twins, twin.identity: tuple(others)}
        self.asked = replace(asked, selection=replace(selection, left_out=tuple(left)), twins=twins)
        self._take_over(number, twin)
        return True

    def weigh(self, weights: tuple[float, ...]) -> None:
        """Look first where a history says that the change is likely; the answer does not depend on it."""
        self.asked = replace(self.asked, weights=weights)
        self._kept = None

    def replace(self, build: Build, now: Build) -> None:
        """Take `now` for `build`, whose file was replaced: forget what is known of the old one, load what is of the new."""
        number = self._ids.get(build.identity)
        if number is None:
            return
        twins = {**self.asked.twins, now.identity: self.asked.twins.get(build.identity, ())}
        self.asked = replace(self.asked, twins=twins)
        self.replaced.append(now.version)
        self._take_over(number, now)

    def is_known(self, build: int) -> bool:
        """Whether a build costs nothing to look at whole: its environment is here, or every case was run on it."""
        tests = (case.name for case in self.asked.spec.tests)
        return self.environments.is_ready(self.asked.environment_key(build)) or all(
            self.seen.get((case, build)) for case in tests
        )

    def take_hints(self, hints: Mapping[tuple[str, int], Hint], thin: ThinLook) -> None:
        """Look first where thin builds say that something changes; the answer does not rest on them."""
        self.hints, self.thin, self._kept = hints, thin, None

    def wait(self, *, for_thin: bool) -> None:
        """Want no second look as long as thin builds are to look first."""
        self.waits, self._kept = for_thin, None

    def _take_over(self, number: int, now: Build) -> None:
        """Another file stands for a build of the range: what is known of the one before says nothing about it."""
        selection = self.asked.selection
        self._ids.pop(selection.builds[number].identity, None)
        builds = (*selection.builds[:number], now, *selection.builds[number + 1 :])
        self.asked = replace(self.asked, selection=replace(selection, builds=builds))
        self._environments, self._kept = (), None
        # What its Python files or its binaries showed thin, the other one showed.
        self.hints = {key: hint for key, hint in self.hints.items() if number not in {key[1], hint.base}}
        self.comparisons = Comparisons(self.asked, self.trial_key)
        if self.asked.wishes.fresh:
            # What the store has besides is not wanted: the trials of this run stay, but for those of the old content.
            self._ids[now.identity] = number
            self.broken.pop(number, None)
            self.seen = defaultdict(list, {key: seen for key, seen in self.seen.items() if key[1] != number})
            return
        self.seen.clear()
        self.taken.clear()
        self.broken.clear()
        self.load()

    @property
    def topics(self) -> tuple[Topic, ...]:
        """What the store is asked for: see `Results.gather`."""
        asked = self.asked
        return tuple(Topic(asked.repro.digest, setting, asked.device.kind) for setting in asked.settings)

    def _load_builds(self, setting: str, known: Results | Gathered) -> None:
        kind = self.asked.device.kind
        wishes = self.asked.wishes
        if (wishes.retry_untestable or wishes.fresh) and setting not in self._forgotten:
            self._forgotten.add(setting)
            self.results.forget_unusable(setting, kind, self._ids)
            known = self.results
        self.healths |= known.healths(setting, kind)
        for identity, reason in known.unusable(setting, kind, self.host).items():
            number = self._number(identity, setting)
            if number is not None:
                self.broken[number] = reason

    def _load_trials(self, setting: str, known: Results | Gathered) -> None:
        asked = self.asked
        names = {case_digest(case, asked.spec): case.name for case in asked.spec.cases}
        for trial in known.trials_of(asked.repro.digest, setting, asked.device.kind):
            if is_cut_short(trial):
                continue  # for the limits of another run, maybe of another host
            number = self._number(trial.subject.identity, setting)
            if number is not None and trial.case_digest in names and trial.folder not in self.taken:
                self.take(names[trial.case_digest], number, trial)

    def _number(self, identity: str, setting: str) -> int | None:
        """The build of an identity, None when it is not in the range or belongs to another setting."""
        number = self._ids.get(identity)
        return number if number is not None and self.asked.setting_of(number) == setting else None

    def take(self, case: str, build: int, trial: StoredTrial) -> Verdict:
        """Judge a stored trial and add it to what is known."""
        verdict = verdict_of(from_values(trial.observation), self.asked.spec.failures)
        if isinstance(verdict, MachineAtFault):
            return verdict
        verdict = self._fitting(build, verdict)
        self.taken.add(trial.folder)
        warm = bool(trial.observation.get("warm"))
        # Of a case on a build one fork counts at most, also when runs that were cut short have left more.
        if warm and (self.fresh_only or any(one.warm for one in self.seen[case, build])):
            return verdict
        seen = SeenTrial(verdict, trial.duration, trial.folder, trial.command, warm=warm, kept=trial.log)
        if self.asked.has_metrics(case):
            finished = self.comparisons.take(case, build, trial, verdict)
            if finished is None:
                return verdict
            build, verdict = finished.build, finished.verdict
            shown = finished.shown
            seen = SeenTrial(
                verdict, finished.duration, shown.folder, shown.command, finished.compared, kept=shown.kept
            )
        self.seen[case, build].append(seen)
        if isinstance(verdict, Failed):
            for failure in verdict.failures:
                self.failures.setdefault(failure.id, failure)
        if disagreement(self.seen[case, build]):
            self._count_fresh_only(case, build)
        return verdict

    def _count_fresh_only(self, case: str, build: int) -> None:
        """Forget every forked trial, because one of them differs from a fresh one of the same case and build."""
        self.fresh_only = (
            f"trials that were forked after the imports do not count: on {self.asked.builds[build].version} the case {case} "
            "did something else when it was forked than when it started fresh"
        )
        for key, trials in self.seen.items():
            self.seen[key] = [one for one in trials if not one.warm]

    def _fitting(self, build: int, verdict: Verdict) -> Verdict:
        """The verdict, unless it is about an overlay that does not fit its binaries."""
        if isinstance(verdict, Failed) and self.asked.builds[build].base is not None:
            reason = misfit(verdict.failures, self.asked.stage.shown)
            return CannotJudge(f"overlay not valid here: {reason}") if reason else verdict
        return verdict

    def environment(self, build: int) -> AbstractContextManager[Environment]:
        """The environment of a build, made where needed, while the context lasts. Raises what `Environments.use` raises."""
        asked, meant = self.asked, self.asked.builds[build]
        return self.environments.use(
            asked.environment_key(build),
            lambda: asked.channel.installation(meant, asked.spec.beside),
            device=asked.device.name,
            as_of=meant.date if asked.listing.has_upload_times else None,
        )

    def subject(self, build: int) -> Subject:
        """What results about a build are stored under."""
        return Subject(self.asked.builds[build].identity, self.asked.setting_of(build), self.asked.device.kind)

    @property
    def host(self) -> str:
        """The kind of this host: what it finds of builds is true of others of this kind."""
        return host_kind(self.asked.device.driver)

    def turn_key(self, build: int) -> str:
        """A name for "this repro on this build", whatever the cases: what one host at a time works on."""
        asked = self.asked
        parts = (asked.repro.digest, asked.builds[build].identity, asked.setting_of(build), asked.device.kind)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def trial_key(self, case: str, build: int) -> str:
        """A name for "this case on this build", the same in every process."""
        asked = self.asked
        parts = (
            asked.repro.digest,
            case_digest(asked.case(case), asked.spec),
            asked.builds[build].identity,
            asked.setting_of(build),
            asked.device.kind,
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]

    def _learned(self) -> Known:
        """What the trials have said; nothing of what is here and what it costs, which takes longer to find out."""
        stand = self._stand
        if self._told is not None and self._told[0] is stand:
            return self._told[1]
        found: dict[tuple[str, int], tuple[Result, ...]] = {
            key: tuple(as_result(trial.verdict) for trial in trials) for key, trials in self.seen.items() if trials
        }
        for case, build, reason in self._without_reference():
            found.setdefault((case, build), (NoVerdict(reason),))
        self._told = stand, Known(found, dict(self.broken))
        return self._told[1]

    @property
    def _stand(self) -> object:
        """One object as long as nothing was learned: with hundreds of questions most learn nothing between two decisions."""
        now = sum(map(len, self.seen.values())), tuple(self.broken.items()), self.fresh_only
        if self._at is None or self._at[0] is not self.asked or self._at[1] != now:
            self._at = self.asked, now
        return self._at

    def known(self) -> Known:
        """Everything known, as the planner takes it; one object as long as it is the same."""
        learned = self._learned()
        assert self.readiness is not None  # since the start
        ready = self.readiness.of(self.row, self.asked.environment_key)
        if self.hidden:
            ready = frozenset(number for number in ready if self.row[number] not in self.hidden)
        prices, knew = self.prices(), self._knew
        if knew is None or not _is_same(knew, learned, ready, prices, self):
            knew = self._knew = Known(learned.results, learned.broken, ready, prices, self.hints, self.waits)
        return knew

    @property
    def row(self) -> tuple[str, ...]:
        """The digest of the environment of each build; one object for equal rows."""
        if not self._environments:
            assert self.readiness is not None  # since the start
            self._environments = self.readiness.row_of(self.asked)
        return self._environments

    def prices(self) -> Prices:
        """What probes cost: environments as measured in this run, trials as measured by this run and those before."""
        stand, measured = self._stand, (self.pace.unpack, self.pace.speed, len(self.healths))
        if self._priced is None or self._priced[0] is not stand or self._priced[1] != measured:
            durations: dict[str, list[float]] = defaultdict(list)
            for (case, _), trials in self.seen.items():
                durations[case] += [trial.duration for trial in trials]
            prices = Prices(
                unpack=self.pace.unpack,
                speed=self.pace.speed,
                fetched=self._fetched(),
                sizes=tuple(build.size for build in self.asked.builds),
                trials={case: fmean(seconds) for case, seconds in durations.items() if seconds},
            )
            self._priced = stand, measured, prices
        return self._priced[2]

    def _fetched(self) -> frozenset[int]:
        """Builds that were proven in this cache before: their files are here as long as nobody cleaned the cache of uv."""
        if self.pace.speed is None:
            return frozenset()
        return frozenset(number for number, build in enumerate(self.asked.builds) if build.identity in self.healths)

    def asking(self) -> Asking:
        """The question as it stands, to be weighed together with others."""
        last = self._last
        if last is not None and self._is_settled(last):
            return last
        known = self.known()
        if last is not None and self.fault is None and last.known is known and last.question is self.question:
            return last
        wants = self._wants_of(known) if self.fault is None else Wants()
        self._last = Asking(self.question, known, self.asked.policy, self.row, wants)
        return self._last

    def _is_settled(self, last: Asking) -> bool:
        """Whether it wanted nothing and has learned nothing since, whatever is here by now and whatever it costs.

        Of hundreds of questions most are so for most of the time.
        """
        if last.wants or self.fault is not None or last.question is not self.question:
            return False
        learned, known = self._learned(), last.known
        is_old = known.results is learned.results and known.broken is learned.broken
        return is_old and known.hints is self.hints and known.waits == self.waits

    @property
    def question(self) -> Question:
        """The question, one object as long as it is the same."""
        if self._put is None or self._put[0] is not self.asked:
            self._put = self.asked, self.asked.question
        return self._put[1]

    def _wants_of(self, known: Known) -> Wants:
        """What the question wants, computed anew only when there is news: with hundreds of questions most have none."""
        if self._kept is not None:
            before, wants = self._kept
            # A walk back and repeats may depend on what is here and what it costs; these wishes and gaps do not.
            kept = all(wish.purpose in (Purpose.END, Purpose.LANDMARK, Purpose.SCAN) for wish in wants.wishes)
            is_news = before.results is not known.results and before.results != known.results
            if not is_news and before.broken == known.broken and (kept or before == known):
                return wants
        wants = wants_of(self.question, known, self.asked.policy)
        self._kept = (known, wants)
        return wants

    def steps_left(self) -> int:
        """About how many builds are still to be probed."""
        return self._wants_of(self.known()).steps_left

    def walked_back(self, answer: Answer) -> str:
        """How far a search without a start went back, and why no further; empty when there was a start."""
        judged = {build for case in self.question.tests for build in judged_of(answer.timelines[case])}
        if not self.question.open_start or not judged:
            return ""
        if min(judged) == 0:
            why = "the oldest build"
        elif answer.boundaries():
            why = "where the behaviour is another"
        else:
            why = "the oldest build that can be used of those that were tried"
        oldest = self.asked.builds[min(judged)].version
        return f"no start was asked for: the search walked back to {oldest}, {why}"

    def may_want(self, environment: str) -> bool:
        """Whether `wanted_in` may find something: told in no time, for the hundreds of questions that want nothing there."""
        wants = self.asking().wants
        if not wants or self.fault is not None:
            return False
        assert self.readiness is not None  # since the start
        return any(wants.may_want(build) for build in self.readiness.places(self.row, environment))

    def wanted_in(self, environment: str) -> Probe | None:
        """What is worth running in the open environment of that digest; None for nothing."""
        if self.fault is not None:
            return None
        asking = self.asking()
        assert self.readiness is not None  # since the start
        for build in self.readiness.places(asking.environments, environment) if asking.wants else ():
            found = probe_on(asking.question, asking.known, build, asking.policy, asking.wants)
            if found is not None:
                return found
        return None

    def _without_reference(self) -> Iterator[tuple[str, int, str]]:
        """Every case and build that cannot be judged, because the reference build cannot be used; with the reason."""
        for case in self.asked.spec.tests:
            if self.asked.has_metrics(case.name) and (number := self.asked.reference(case.name)) in self.broken:
                reason = (
                    f"the reference build {self.asked.builds[number].version} cannot be used: {self.broken[number]}"
                )
                yield from ((case.name, build, reason) for build in range(len(self.asked.builds)))

    def plan(self) -> Plan:
        """What to run next."""
        return plan(self.question, self.known(), self.asked.policy)

    def answer(self) -> Answer:
        """The answer, as far as it is known."""
        known = self.known()
        before = self._answered
        if before is None or before[0] is not self.question or before[1] is not known:
            self._answered = self.question, known, answer(self.question, known, self.asked.policy)
            return self._answered[2]
        return before[2]

    def boundaries(self) -> tuple[tuple[int, int], ...]:
        """The pairs of builds between which something changed, as far as it is known."""
        return self.answer().boundaries()

    def state(self, case: str, build: int) -> State | None:
        """The state of one case on one build."""
        return state_at(self.question, self._learned(), case, build)


def is_cut_short(trial: StoredTrial) -> bool:
    """Whether it was ended for what it took of its machine: another run may have more to give."""
    return bool(trial.observation.get("over"))


def _is_same(knew: Known, learned: Known, ready: frozenset[int], prices: Prices, session: Session) -> bool:
    """Whether nothing has become known, by the objects that are kept as long as that is so."""
    return (
        knew.results is learned.results
        and knew.broken is learned.broken
        and knew.ready is ready
        and knew.prices is prices
        and knew.hints is session.hints
        and knew.waits == session.waits
    )
